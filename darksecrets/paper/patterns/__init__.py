"""Five patterns of self-attention: labelled maps, the classifier, shares of patterns (§4.1)."""
