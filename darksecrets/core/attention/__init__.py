"""Self-attention maps: how they are extracted and stored (section 3)."""
