"""Cross-validate the classifier of patterns on the labelled maps (section 4.1)."""

from darksecrets.core.run.job import Job, script


@script
def main(job: Job) -> None:
    """Write every classifier's prediction for every labelled map."""
    import pandas as pd
    import torch

    from darksecrets.paper.patterns.maps import labelled_maps
    from darksecrets.paper.patterns.network import crossvalidation
    from darksecrets.paper.patterns.network.cnn import Training
    from darksecrets.paper.patterns.tables import PATTERN_PREDICTIONS

    torch.set_num_threads(job.threads)
    settings = job.params.training
    sources = labelled_maps.folders(settings["annotations"])
    data = labelled_maps.load(sources)
    training = Training(settings["epochs"], settings["seed"], settings["drawn_maps"])
    predictions = crossvalidation.cross_validate(data, settings["folds"], training)
    again = crossvalidation.label_again(data, labelled_maps.labels(sources))
    PATTERN_PREDICTIONS.write(pd.concat([predictions, again]), job.output.predictions)
