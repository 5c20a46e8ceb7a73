"""Encoders: loading, checkpoints, devices, selectors of heads, and hooks that reach into them."""
