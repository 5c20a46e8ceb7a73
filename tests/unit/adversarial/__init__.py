"""What knows nothing, to try every inference on: none may pass more often than its stated rate.

`maps` has heads that look at one place, class of words or distance; `sweeps` has predictions of
models whose heads do not matter, or matter by a known amount.
"""
