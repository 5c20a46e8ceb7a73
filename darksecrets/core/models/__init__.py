"""Encoders: loading, checkpoints, devices, head selectors and hooks."""
