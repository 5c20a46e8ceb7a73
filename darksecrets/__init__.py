"""Reference reproduction of "Revealing the Dark Secrets of BERT" (Kovaleva et al. 2019)."""

__version__ = "0.1.0"
