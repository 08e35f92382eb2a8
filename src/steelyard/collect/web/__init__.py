"""What raters see and send."""
