"""How much a task needs each head: by gradients, and exactly (Michel et al. 2019)."""
