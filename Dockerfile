# The environment of every rule and of Snakemake itself, as one image; also for Apptainer and Kubernetes (docs/cluster.md).
#
#   docker build -t darksecrets:0.2.0 .                                            NVIDIA GPUs, CUDA libraries included
#   docker build -t darksecrets:0.2.0 --build-arg PIP_EXTRA_INDEX_URL=<address> .  CPUs only, several GB smaller:
#                                      the address of PyTorch's index of CPU builds, given on its installation page
FROM debian:bookworm-20250929-slim

LABEL org.opencontainers.image.title="darksecrets" \
      org.opencontainers.image.version="0.2.0" \
      org.opencontainers.image.licenses="MIT"

# git: for the commit in every result's provenance. rsync: for Snakemake's storage plugin for file systems.
RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    ca-certificates gcc git libc6-dev make python3.11 python3.11-venv rsync \
 && rm -rf /var/lib/apt/lists/*

ARG PIP_EXTRA_INDEX_URL=""
COPY requirements.lock /opt/darksecrets/requirements.lock
COPY requirements-torch.txt /opt/darksecrets/requirements-torch.txt
RUN python3.11 -m venv /opt/darksecrets/venv \
 && /opt/darksecrets/venv/bin/python -m pip install --no-cache-dir --require-hashes --no-deps -r /opt/darksecrets/requirements.lock \
 && /opt/darksecrets/venv/bin/python -m pip install --no-cache-dir -r /opt/darksecrets/requirements-torch.txt

# The package itself, for the command `darksecrets`; jobs use that of the mounted project.
COPY pyproject.toml /opt/darksecrets/package/pyproject.toml
COPY setup.py /opt/darksecrets/package/setup.py
COPY README.md /opt/darksecrets/package/README.md
COPY Snakefile /opt/darksecrets/package/Snakefile
COPY darksecrets /opt/darksecrets/package/darksecrets
COPY workflow /opt/darksecrets/package/workflow
COPY scripts /opt/darksecrets/package/scripts
COPY config /opt/darksecrets/package/config
COPY envs /opt/darksecrets/package/envs
RUN /opt/darksecrets/venv/bin/python -m pip install --no-cache-dir --no-deps --no-build-isolation /opt/darksecrets/package

# Any user may run the image, and another may own the mounted project: caches go to a home that all can write to (Apptainer
# uses the caller's own), Snakemake needs a user name, and Git may read the commit of a project with any owner.
RUN mkdir -m 1777 /home/darksecrets \
 && git config --system --add safe.directory '*'
ENV HOME=/home/darksecrets
ENV USER=darksecrets
ENV PATH=/opt/darksecrets/venv/bin:$PATH

CMD ["snakemake", "--version"]
