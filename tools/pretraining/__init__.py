"""The tiny BERT that ships with the project: how it was pre-trained."""
