"""The built-in corpus: a grammar of English that generates all seven tasks with gold annotation."""
