"""Masked words: their likelihoods, pairs of sentences, and what words say of each other."""
