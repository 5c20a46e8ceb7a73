"""What heads look at: linguistic features, vertical stripes and token pairs (sections 4.4, 4.5)."""
