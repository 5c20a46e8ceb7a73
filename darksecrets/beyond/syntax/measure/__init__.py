"""Heads measured on sentences whose trees, or antecedents, are known."""
