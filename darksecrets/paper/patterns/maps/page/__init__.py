"""The page on which people label attention maps: one file that keeps labels in the browser."""
