"""The generated corpus: an English grammar that generates all seven tasks with gold annotation."""
