"""Self-attention maps: how they are extracted, stored and split into chunks (section 3)."""
