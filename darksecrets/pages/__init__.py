"""What people read of a run: claims, the atlas, a look at a text, the reference of its tables."""
