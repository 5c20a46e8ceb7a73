"""States of a model, and what readers see of them; this module needs no library."""

from __future__ import annotations

PRETRAINED = "pretrained"
FROM_NORMAL = "finetuned-from-normal"
"""State of a model that is randomly initialized (normal distribution) before fine-tuning."""
FINETUNED = "finetuned"
STATES = (PRETRAINED, FROM_NORMAL, FINETUNED)
"""How a model was made, in the order of Table 1."""
FROZEN = "frozen"
"""State of a pre-trained encoder that stays as it is while its classifier is trained."""
RANDOM = "random"
"""State of an encoder that is randomly initialized (normal distribution) and never trained."""
STATE_NAMES = {
    RANDOM: "untrained",
    PRETRAINED: "pre-trained",
    FROZEN: "frozen",
    FROM_NORMAL: "randomly initialized, fine-tuned",
    FINETUNED: "fine-tuned",
}
"""What readers see of states."""
STATES_OF_FIGURES = (RANDOM, PRETRAINED, FINETUNED)
"""States whose maps figures compare."""
