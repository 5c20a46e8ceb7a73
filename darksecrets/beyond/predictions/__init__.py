"""What an encoder predicts without a classifier: masked words, minimal pairs, impact trees."""
