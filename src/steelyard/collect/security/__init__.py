"""What keeps raters, administrators and strangers apart: tokens, cookies, limits, headers."""
