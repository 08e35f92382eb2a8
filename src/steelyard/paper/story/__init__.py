"""The page, section by section, in the order of the paper."""
