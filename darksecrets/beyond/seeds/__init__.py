"""How much scores depend on the seeds of fine-tuning (section 3; Dodge et al. 2020)."""
