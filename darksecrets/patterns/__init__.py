"""Five patterns of self-attention: labelled maps, the classifier, its shares (section 4.1)."""
