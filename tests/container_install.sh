#!/usr/bin/env bash
# Run the Dockerfile's installation in a bare Debian made with debootstrap, and then the workflow in
# it: what can be checked of the image where no container engine runs. Root, Debian, about ten minutes.
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

# The image's own steps, in the order of the file: COPY as a copy, RUN in the new root, ENV for what follows.
python3 - "$FOLDER" >"$FOLDER.env" <<'PYTHON'
import os, pathlib, re, shutil, subprocess, sys

root = pathlib.Path(sys.argv[1])
settings = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
for line in pathlib.Path("Dockerfile").read_text().replace("\\\n", " ").splitlines():
    if copy := re.match(r"COPY (\S+) (\S+)$", line):
        target = root / copy[2].lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        copied = shutil.copytree if pathlib.Path(copy[1]).is_dir() else shutil.copy
        copied(copy[1], target)
    elif run := re.match(r"RUN (.*)", line):
        command = ["chroot", root, "/bin/sh", "-euc", run[1]]
        subprocess.run(command, check=True, stdout=2, env=os.environ | settings)
    elif setting := re.match(r"ENV (\w+)=(\S+)$", line):
        settings[setting[1]] = setting[2].replace("$PATH", settings["PATH"])
print(*(f"{name}={value}" for name, value in settings.items()), sep="\n")
PYTHON
mapfile -t settings <"$FOLDER.env"

# The workflow as the page says: the project mounted (here a clone), and a user who owns neither it nor the image.
git clone -q . "$FOLDER/project"
mkdir -m 777 "$FOLDER/results"
image() { chroot --userspec=1234:1234 "$FOLDER" env -i -C /project "${settings[@]}" "$@"; }
image python -c 'import snakemake, torch, transformers, datasets, seaborn, spacy; print("torch", torch.__version__)'
image darksecrets --help >/dev/null
image snakemake --directory /results -n all report --quiet --configfile config/config.yaml
image snakemake --directory /results --cores 2 figure4 figure5 --configfile tests/cluster/smoke.yaml
grep -q "\"commit\": \"$(git rev-parse --short=12 HEAD)\"" "$FOLDER/results/results/cluster/data/RTE/provenance.json"
echo "The image runs the workflow."
