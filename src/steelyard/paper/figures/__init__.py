"""How each figure of the paper is drawn, a file for each kind; `steelyard.paper.drawings` names them."""
