"""A spaCy pipeline without knowledge, where sentences only need to be annotated."""

from pathlib import Path

import spacy


def save_pipeline(folder: Path) -> None:
    """Save a pipeline with random weights and the labels that the annotation expects."""
    pipeline = spacy.blank("en")
    tagger = pipeline.add_pipe("tagger")
    for tag in ("NN", "VBD", "DT"):
        tagger.add_label(tag)
    parser = pipeline.add_pipe("parser")
    for label in ("nsubj", "det", "punct"):
        parser.add_label(label)
    pipeline.initialize()
    pipeline.to_disk(folder)
