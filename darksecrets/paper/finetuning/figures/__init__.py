"""Table 1 and the figures of section 4.3."""
