"""What fine-tuned models do with inputs that no person could answer."""
