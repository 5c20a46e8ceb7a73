#!/usr/bin/env bash
# Run the Dockerfile's installation in a bare Debian made with debootstrap: what can be checked of
# the image where no container engine runs. Root, Debian, about five minutes.
#
#   tests/container_install.sh FOLDER [FILE OR FOLDER ...]
#
# What else is named appears at the same place inside, read-only: for a machine whose pip is configured
# to take packages from files. Certificates that this machine's administrator added are copied.
set -euo pipefail
cd "$(dirname "$0")/.."
FOLDER=$(realpath -m "${1:?a folder for the Debian root}")
shift

[ "$(id -u)" = 0 ] || { echo "found user $(id -un), expected root" >&2; exit 1; }
[ ! -e "$FOLDER" ] || { echo "$FOLDER exists; expected a new folder" >&2; exit 1; }
command -v debootstrap >/dev/null || apt-get install -y -q --no-install-recommends debootstrap

mounted=()
trap 'for path in "${mounted[@]}"; do umount "$path"; done' EXIT

debootstrap --variant=minbase bookworm "$FOLDER" >"$FOLDER.log" 2>&1 || { tail "$FOLDER.log" >&2; exit 1; }
cp /etc/resolv.conf "$FOLDER/etc/resolv.conf"
mkdir -p "$FOLDER/usr/local/share/ca-certificates"
cp -r /usr/local/share/ca-certificates/. "$FOLDER/usr/local/share/ca-certificates/"
mount -t proc proc "$FOLDER/proc"
mounted=("$FOLDER/proc")
for path in "$@"; do
  if [ -d "$path" ]; then mkdir -p "$FOLDER$path"; else install -D /dev/null "$FOLDER$path"; fi
  mount --bind "$path" "$FOLDER$path"
  mounted=("$FOLDER$path" "${mounted[@]}")
  mount -o remount,ro,bind "$FOLDER$path" # nothing inside may change this machine
done

# The image's own steps, in the order of the file: COPY as a copy, RUN in the new root.
python3 - "$FOLDER" <<'PYTHON'
import pathlib, re, shutil, subprocess, sys

root = pathlib.Path(sys.argv[1])
for line in pathlib.Path("Dockerfile").read_text().replace("\\\n", " ").splitlines():
    if copy := re.match(r"COPY (\S+) (\S+)$", line):
        target = root / copy[2].lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(copy[1], target)
    elif run := re.match(r"RUN (.*)", line):
        subprocess.run(["chroot", root, "/bin/sh", "-euc", run[1]], check=True)
PYTHON

chroot "$FOLDER" /opt/darksecrets/venv/bin/python -c \
  'import snakemake, torch, transformers, datasets, seaborn, spacy; print("torch", torch.__version__)'
chroot "$FOLDER" /opt/darksecrets/venv/bin/snakemake --version
