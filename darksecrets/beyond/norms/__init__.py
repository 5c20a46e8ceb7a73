"""Weights beside the lengths of the vectors that they weight (Kobayashi et al. 2020)."""
