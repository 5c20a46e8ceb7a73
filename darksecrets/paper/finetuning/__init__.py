"""What fine-tuning changes: training, scores, cosine similarity (sections 3 and 4.3)."""
