"""States of a model, and what readers see of them; this module needs no library."""

from __future__ import annotations

STATES = ("pretrained", "finetuned-from-normal", "finetuned")
"""How a model was made, in the order of Table 1."""
FROM_NORMAL = STATES[1]
"""State of a model that is randomly initialized (normal distribution) before fine-tuning."""
RANDOM = "random"
"""State of an encoder that is randomly initialized (normal distribution) and never trained."""
STATE_NAMES = {
    RANDOM: "untrained",
    "pretrained": "pre-trained",
    "frozen": "frozen",
    FROM_NORMAL: "randomly initialized, fine-tuned",
    "finetuned": "fine-tuned",
}
"""What readers see of states; *frozen* is the pre-trained encoder with a trained classifier."""
STATES_OF_FIGURES = (RANDOM, "pretrained", "finetuned")
"""States whose maps figures compare."""
