"""A job is one process in a known precision, whatever the shell has."""

import json
import os
import subprocess
import sys

import pytest

from darksecrets.core.run.launchers import forget_launchers

TORCHRUN = {
    "RANK": "0",
    "LOCAL_RANK": "0",
    "WORLD_SIZE": "4",
    "LOCAL_WORLD_SIZE": "4",
    "GROUP_RANK": "0",
    "ROLE_RANK": "0",
    "ROLE_WORLD_SIZE": "4",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29511",
    "TORCHELASTIC_RUN_ID": "none",
}
LAUNCHERS = {
    "torchrun": TORCHRUN,
    "a part of torchrun's": {"LOCAL_RANK": "0"},
    "accelerate": {"ACCELERATE_MIXED_PRECISION": "bf16", "ACCELERATE_USE_CPU": "true"},
    "accelerate with FSDP": {"ACCELERATE_USE_FSDP": "true", "FSDP_VERSION": "2"},
    "accelerate with DeepSpeed": {"ACCELERATE_USE_DEEPSPEED": "true"},
    "accumulated gradients": {"ACCELERATE_GRADIENT_ACCUMULATION_STEPS": "4"},
    "Open MPI": {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"},
    "MPICH": {"PMI_RANK": "1", "PMI_SIZE": "2"},
    "SageMaker": {"SM_HP_MP_PARAMETERS": "{}", "SM_FRAMEWORK_PARAMS": "{}"},
    "TensorFloat-32": {"NVIDIA_TF32_OVERRIDE": "1", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"},
    "oneDNN in bfloat16": {"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"},
}
KEPT = {
    "CUDA_VISIBLE_DEVICES": "0",
    "HF_HOME": "/cache",
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "PATH": "/bin",
    "RANKING": "yes",
    "SLURM_JOB_ID": "7",
    "SNAKEMAKE_PROFILE": "none",
}


@pytest.mark.parametrize("name", LAUNCHERS)
def test_variables_of_launchers_go_and_others_stay(name):
    environment = {**KEPT, **LAUNCHERS[name]}
    assert forget_launchers(environment) == sorted(LAUNCHERS[name])
    assert environment == KEPT
    assert forget_launchers(environment) == []


TRAINING = """
import json, os, sys
from darksecrets.core.run.launchers import forget_launchers
if sys.argv[1] == "job":
    forget_launchers()
import torch
from transformers import Trainer, TrainingArguments
linear = torch.nn.Linear(8, 8)
arguments = TrainingArguments(output_dir=sys.argv[2], report_to="none", use_cpu=True)
trainer = Trainer(model=linear, args=arguments)
with trainer.accelerator.autocast():
    made = linear(torch.ones(1, 8))
state = trainer.accelerator.state
processes = [state.num_processes, trainer.args.world_size]
print(json.dumps([state.mixed_precision, str(made.dtype), *processes]))
"""


def trainer_of(how, folder, variables):
    """What Accelerate makes of some variables, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", TRAINING, how, folder],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr


def test_without_that_a_training_has_another_precision(tmp_path):
    given = LAUNCHERS["accelerate"]
    assert trainer_of("shell", tmp_path, given)[0] == "bf16"
    assert trainer_of("job", tmp_path, given) == ["no", "torch.float32", 1, 1]


def test_a_rank_left_in_the_shell_stops_no_training(tmp_path):
    assert "environment variable" in trainer_of("shell", tmp_path, {"LOCAL_RANK": "0"})
    assert trainer_of("job", tmp_path, TORCHRUN) == ["no", "torch.float32", 1, 1]
