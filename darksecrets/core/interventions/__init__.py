"""Disabling heads and layers, and predicting with every one of them disabled."""
