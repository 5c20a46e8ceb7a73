"""Second opinions: the paper's analyses of heads on norms and on effective attention."""
