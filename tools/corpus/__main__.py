"""Generate the demonstration's data: python -m tools.corpus FOLDER."""

import argparse
from pathlib import Path

from tools.corpus.files import write

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("folder", type=Path, help="where to write the files")
write(parser.parse_args().folder)
