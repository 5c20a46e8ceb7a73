"""Download FrameNet 1.7 with NLTK (section 4.2)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Fill an NLTK data folder."""
    from darksecrets.paper.framenet.folder import download

    download(job.output.folder)
