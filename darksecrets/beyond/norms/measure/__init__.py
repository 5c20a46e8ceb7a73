"""Weights beside norms of all heads (section 4.4)."""
