"""Types of arrays, by what they hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Halves = npt.NDArray[np.float16]
Reals = npt.NDArray[np.floating]
"""Numbers of any of these precisions."""
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Texts = npt.NDArray[np.str_]
Values = npt.NDArray[np.generic]
"""Values of any type."""
