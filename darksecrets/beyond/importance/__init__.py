"""How much a task needs each head: gradients and leave-one-out losses (Michel et al. 2019)."""
