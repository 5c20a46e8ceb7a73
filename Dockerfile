# The environment of every rule and of Snakemake itself, as one image; also for Apptainer (docs/cluster.md).
#
#   docker build -t darksecrets .                                                  NVIDIA GPUs, CUDA libraries included
#   docker build -t darksecrets --build-arg PIP_EXTRA_INDEX_URL=<address> .        processors only, several GB smaller:
#                                      the address of PyTorch's index of CPU builds, as its installation page names it
FROM debian:bookworm-slim

RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    ca-certificates gcc git libc6-dev make python3.11 python3.11-venv \
 && rm -rf /var/lib/apt/lists/*

ARG PIP_EXTRA_INDEX_URL=""
COPY requirements.lock /opt/darksecrets/requirements.lock
RUN python3.11 -m venv /opt/darksecrets/venv \
 && /opt/darksecrets/venv/bin/python -m pip install --no-cache-dir -r /opt/darksecrets/requirements.lock

ENV PATH=/opt/darksecrets/venv/bin:$PATH
CMD ["snakemake", "--version"]
