"""Whether attention explains decisions: gradients, rank correlations, and erasing tokens."""
