"""Variables by which launchers make processes work together, or in another precision.

``torchrun``, ``accelerate launch``, MPI and the templates of compute services leave them in a
shell. PyTorch, Accelerate and the math libraries read them: a job would wait for processes that no
one started, or compute in a precision that its record does not have.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

_PREFIXES = (
    "ACCELERATE_",
    "DEEPSPEED_",
    "FSDP_",
    "GROUP_RANK",
    "GROUP_WORLD_SIZE",
    "MASTER_",
    "MV2_COMM_",
    "OMPI_",
    "PARALLELISM_CONFIG_",
    "PMI_",
    "PMIX_",
    "ROLE_NAME",
    "ROLE_RANK",
    "ROLE_WORLD_SIZE",
    "SMDATAPARALLEL_",
    "SM_FRAMEWORK_",
    "SM_HP_MP_",
    "TORCHELASTIC_",
    "XLA_",
)
_NAMES = (
    "CROSS_RANK",
    "CROSS_SIZE",
    "FORK_LAUNCHED",
    "LOCAL_RANK",
    "LOCAL_SIZE",
    "LOCAL_WORLD_SIZE",
    "NODE_RANK",
    "NPROC",
    "RANK",
    "WORLD_SIZE",
    "USE_TORCH_XLA",
    # Products of float32 in fewer bits: of cuBLAS, PyTorch and oneDNN.
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "DNNL_DEFAULT_FPMATH_MODE",
    "ONEDNN_DEFAULT_FPMATH_MODE",
)


def forget_launchers(environment: MutableMapping[str, str] = os.environ) -> list[str]:
    """Remove the variables, so that a job is one process in the precision of its configuration.

    Args:
        environment: Where they are; to be called before torch is imported.

    Returns:
        The names of the variables that were there, sorted.
    """
    found = sorted(name for name in environment if name in _NAMES or name.startswith(_PREFIXES))
    for name in found:
        del environment[name]
    return found
