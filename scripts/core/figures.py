"""Draw figures, or write tables for the report, with the functions that the rule names."""

from pathlib import Path

from darksecrets.core.run.job import Job, script


def files_of(job: Job, name: str, source: str) -> list[Path]:
    """Files that a figure reads by the name of a source; the rule puts the figure's name before."""
    return job.input.all(f"{name}_{source}")


@script
def main(job: Job) -> None:
    """Call the function of every figure, and write what it returns in every format of the rule."""
    import logging
    from functools import partial
    from importlib import import_module

    from darksecrets.core.plotting.drawing import Sources, describe, write

    label = job.params.label
    for name, settings in job.params.figures.items():
        logging.getLogger("darksecrets").info("Drawing %s", name)
        paths = partial(files_of, job, name)
        sources = Sources(paths, settings["metrics"], label, settings["options"])
        drawn = getattr(import_module(settings["module"]), settings["function"])(sources)
        files = [path for path in job.output if path.stem == name]
        described = describe(job.params.captions[name], label)
        write(drawn, files, script=settings["module"], **described)
