"""Types of heads, and distances between them, from the maps of a model."""
