"""Statistics used by every section: resampling, paired tests, corrections, controls."""
