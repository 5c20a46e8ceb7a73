"""Print the page: ``python -m darksecrets.pages.contracts > docs/contracts.md``."""

import sys

from darksecrets.pages.contracts.page import page

sys.stdout.write(page())
