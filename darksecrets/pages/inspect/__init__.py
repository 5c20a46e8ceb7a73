"""Text of one's own: what an encoder's heads do on any sentences, without labels or training."""
