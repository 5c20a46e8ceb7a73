"""Tasks and their metrics, sources of data, checks, encoding, batches and alignment (section 3)."""
