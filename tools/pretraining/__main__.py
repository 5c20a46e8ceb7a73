"""Pre-train the tiny BERT again: python -m tools.pretraining FOLDER.

An interrupted run goes on from its last checkpoint.
"""

import argparse
import logging
from pathlib import Path

from tools.pretraining.tiny_bert import Configuration, pretrain

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", type=Path, help="where to write the model")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--threads", type=int, default=1)
arguments = parser.parse_args()
logging.basicConfig(level=logging.INFO, format="%(message)s")
pretrain(
    arguments.folder,
    configuration=Configuration(),
    seed=arguments.seed,
    threads=arguments.threads,
)
