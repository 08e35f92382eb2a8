"""What is drawn, and what raters see of it: outputs, pairs, screens and documents."""
