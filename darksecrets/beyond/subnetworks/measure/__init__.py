"""Parts of a fine-tuned model that are enough, and parts that are not."""
