"""Tasks, metrics, data sources, checks, encoding, batches and alignment (section 3)."""
