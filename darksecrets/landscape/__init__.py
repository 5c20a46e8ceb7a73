"""What fine-tuning does (beyond the paper; Hao et al. 2019): layers restored, and paths between."""
