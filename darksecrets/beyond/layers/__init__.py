"""What layers know of words, sentences and the task, before and after fine-tuning."""
