"""Download FrameNet 1.7 with NLTK (section 4.2)."""

from _job import Job, script


@script
def main(job: Job) -> None:
    """Fill an NLTK data folder."""
    from darksecrets.framenet.folder import download

    download(job.output.folder)
