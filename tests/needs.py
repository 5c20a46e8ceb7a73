"""Programs that tests need; without one, its tests are skipped and say how to install it."""

import shutil
import subprocess

import pytest

# Required programs and files, and the Debian package of each; `.ci/run` installs all of them.
PACKAGES = {
    "booktabs.sty": "texlive-latex-recommended",
    "chromedriver": "chromium-driver",
    "chromium": "chromium",
    "pdflatex": "texlive-latex-base",
    "rsync": "rsync",
}
ALSO_CALLED = {"chromium": "google-chrome"}


def path_of(name: str) -> str | None:
    """Where a program, or a file of LaTeX, is installed."""
    if name.endswith(".sty"):
        search = shutil.which("kpsewhich")
        if not search:
            return None
        return subprocess.run([search, name], capture_output=True, text=True).stdout.strip() or None
    return shutil.which(name) or shutil.which(ALSO_CALLED.get(name, name))


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark tests that are skipped unless all of these are installed."""
    missing = [name for name in names if not path_of(name)]
    packages = " ".join(PACKAGES[name] for name in missing)
    reason = f"{' and '.join(missing)} not found (on Debian: apt-get install {packages})"
    return pytest.mark.skipif(bool(missing), reason=reason)
