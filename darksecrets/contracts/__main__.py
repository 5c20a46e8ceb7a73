"""Print the page: ``python -m darksecrets.contracts > docs/contracts.md``."""

import sys

from darksecrets.contracts.page import page

sys.stdout.write(page())
