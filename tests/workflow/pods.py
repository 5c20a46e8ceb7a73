"""Snakemake with Kubernetes' API replaced: a pod is a process in an empty folder of its own.

Sources come to a pod as Snakemake sends them, data through the default storage; nothing else is
shared. Started as a program, with Snakemake's arguments.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import kubernetes
from snakemake.cli import main


class Batch:
    """The jobs of the cluster, by name."""

    pods: ClassVar[dict[str, subprocess.Popen]] = {}

    def create_namespaced_job(self, _, job):
        (container,) = job.spec.template.spec.containers
        folder = tempfile.mkdtemp(prefix="pod-")
        # Python is this one, and what Snakemake lets a pod install is installed.
        places = (os.environ["NO_PIP"], str(Path(sys.executable).parent), os.environ["PATH"])
        environment = os.environ | {"PATH": os.pathsep.join(places)}
        command = [*container.command, *container.args]
        self.pods[job.metadata.name] = subprocess.Popen(command, cwd=folder, env=environment)

    def read_namespaced_job_status(self, name, _):
        code = self.pods[name].poll()
        ended = {"succeeded": int(code == 0), "failed": int(code not in (None, 0))}
        return SimpleNamespace(status=SimpleNamespace(**ended))

    def delete_namespaced_job(self, *_, **__):
        pass


class Core:
    """The rest of the interface, without any effect."""

    def list_namespaced_pod(self, **_):
        return SimpleNamespace(items=[])

    def create_namespaced_secret(self, *_):
        pass

    def delete_namespaced_secret(self, *_, **__):
        pass


if __name__ == "__main__":
    kubernetes.config.load_kube_config = lambda: None
    kubernetes.client.BatchV1Api, kubernetes.client.CoreV1Api = Batch, Core
    main(sys.argv[1:])
