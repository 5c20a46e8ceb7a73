"""Puts the workflow into the package, so that it runs where it is installed.

pyproject.toml says everything else.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

WORKFLOW = ("Snakefile", "workflow", "scripts", "config", "envs")


class BuildWithWorkflow(build_py):
    """Also copies rules, scripts, configurations and environments to ``darksecrets/project``."""

    def run(self) -> None:
        """Build the package; an editable one has the workflow of its checkout."""
        super().run()
        if self.editable_mode:
            return
        project = Path(self.build_lib, "darksecrets", "project")
        shutil.rmtree(project, ignore_errors=True)
        project.mkdir(parents=True)
        for name in WORKFLOW:
            if Path(name).is_dir():
                shutil.copytree(name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(name, project / name)


setup(cmdclass={"build_py": BuildWithWorkflow})
