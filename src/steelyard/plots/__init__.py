"""Results drawn on matplotlib's axes, in a style that is read without colour too."""
