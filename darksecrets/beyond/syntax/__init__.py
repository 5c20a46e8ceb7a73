"""Which heads follow syntactic relations, and how well (Clark et al. 2019)."""
