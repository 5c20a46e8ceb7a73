"""The tables of ``docs/encoders.md``: what works for which encoder, found by trying.

    PYTHONPATH=.:tests/unit python -m encoders_page

Every entry is the outcome of running the code on a small random checkpoint of the family. A table
stands in the page between ``<!-- its name -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset, DatasetDict
from encoders import FAMILIES, PAIRS, SENTENCES
from glue import TASKS
from transformers import AutoConfig

from darksecrets.ablation.disable import Disable
from darksecrets.ablation.preflight import unreachable
from darksecrets.ablation.sweep import choose_backend
from darksecrets.attention.extraction import extract
from darksecrets.attention.store import AttentionStore
from darksecrets.data.batches import load_split
from darksecrets.features.measures import MEASURES, measure
from darksecrets.features.tokens import describe_example
from darksecrets.finetuning import cosine
from darksecrets.finetuning.training import Settings, finetune
from darksecrets.framenet import heads
from darksecrets.framenet.links import Annotation, Element
from darksecrets.models import checkpoints, loading
from darksecrets.models.reach import windows_of
from darksecrets.models.reading import Reading
from darksecrets.norms import preflight
from darksecrets.norms.measuring import measure as measure_norms
from darksecrets.norms.statistics import tables as norms
from darksecrets.patterns.classification import classify
from darksecrets.patterns.classifier import untrained
from darksecrets.run.columns import MAPS
from darksecrets.run.errors import InputError
from darksecrets.run.tables import Table

PAGE = Path(__file__).parents[2] / "docs" / "encoders.md"
TASK = TASKS["RTE"]
IDX = [3, 1, 0, 2]

#: Models that are refused, and settings that make them small.
REFUSED: dict[str, dict[str, Any]] = {
    "gpt2": {"n_layer": 2, "n_head": 2, "n_embd": 16},
    "llama": {"num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2},
    "t5": {},
    "bart": {},
    "longformer": {"hidden_size": 24, "num_attention_heads": 2, "intermediate_size": 16},
    "fnet": {"hidden_size": 16, "intermediate_size": 16},
}


@dataclass(frozen=True)
class Outcome:
    """What was found for one family, by column of the page; and why its sweep is left out."""

    columns: dict[str, str]
    left_out: str


def outcomes(folder: Path) -> Iterator[tuple[str, Outcome]]:
    """Try every family."""
    data = folder / "data"
    rows = Dataset.from_dict({"idx": IDX, **PAIRS, "label": [0, 1, 1, 0]})
    DatasetDict(train=rows, validation=rows).save_to_disk(data)
    for name, family in FAMILIES.items():
        yield name, _try(family.save(folder / family.name), folder / f"{name} results", data)


def _try(model: Path, results: Path, data: Path) -> Outcome:
    tokenizer = loading.check_tokenizer(model, 128)
    checkpoints.check_attention(model, 128)
    columns = {
        "special tokens": _special_tokens(tokenizer),
        "segment ids": "yes" if "token_type_ids" in tokenizer.model_input_names else "no",
        "longest text": _longest(model),
        "fine-tuning": _tried(lambda: _finetune(model, data, results)),
        "extraction": _extract(model, results / "pretrained"),
    }
    _extract(results / "model", results / "finetuned")
    stores = [AttentionStore.open(results / name) for name in ("pretrained", "finetuned")]
    of_more = ("ci_low", "ci_high", "other_seed")  # examples, seeds
    columns["cosine"] = _tried(lambda: cosine.table(cosine.compare(*stores)), of_more)
    columns["patterns"] = _tried(lambda: classify(stores[0], untrained()))
    columns |= _measures(stores[0])
    columns["norms"] = _norms(model)
    columns["FrameNet"] = _tried(
        lambda: _framenet(model, results / "framenet"), _optional(heads.HEADS)
    )
    left_out = unreachable(model)
    columns["sweep"] = "left out" if left_out else _sweep(results / "model", data)
    return Outcome(columns, left_out.replace(f"{model}: ", ""))


def _tried(call: Callable[[], Any], optional: Collection[str] = ()) -> str:
    """Run a step; its table must have only finite numbers, except in optional columns."""
    table = call()
    if table is not None:
        numbers = table.drop(columns=list(optional)).select_dtypes("number")
        assert len(table)
        assert np.isfinite(numbers.to_numpy(dtype=float)).all()
    return "yes"


def _optional(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.optional and column not in MAPS]


def _special_tokens(tokenizer: Any) -> str:
    ids = tokenizer("a", "b", return_special_tokens_mask=True)
    tokens = tokenizer.convert_ids_to_tokens(ids["input_ids"])
    special, sentences = ids["special_tokens_mask"], iter("AB")
    shown: list[str] = []
    for token, is_special, before in zip(tokens, special, [1, *special], strict=False):
        if is_special:
            shown.append(token)
        elif before:
            shown.append(next(sentences))
    return f"`{' '.join(shown)}`"


def _longest(model: Path) -> str:
    try:
        checkpoints.check_attention(model, 512)
    except InputError as error:
        return str(error).split("at most ")[1].split()[0]
    return "no limit"


def _finetune(model: Path, data: Path, results: Path) -> None:
    files = {name: results / f"{name}.csv" for name in ("scores", "predictions", "curve")}
    settings = Settings(epochs=1, batch_size=2, max_length=128, precision="float32")
    finetune(
        *(model, data, results / "model"),
        task=TASK,
        state="finetuned",
        seed=1,
        settings=settings,
        threads=torch.get_num_threads(),
        **files,
    )


def _extract(model: Path, output: Path) -> str:
    extract(model, {"idx": IDX, **PAIRS}, output, batch_size=4)
    store = AttentionStore.open(output)
    windows = windows_of(loading.load_encoder(model), int(store.lengths[0]))
    local = [str(layer) for layer, window in enumerate(windows, 1) if window is not None]
    assert bool(local) == any(store.windows)
    return f"yes, layers {' and '.join(local)} local" if local else "yes"


def _measures(store: AttentionStore) -> dict[str, str]:
    tokens = []
    for example, idx in enumerate(store.idx.tolist()):
        texts = [PAIRS[name][IDX.index(idx)] for name in ("sentence1", "sentence2")]
        layout = store.offsets(example), store.segments(example), store.special(example)
        annotated = [_annotated(text) for text in texts]
        counts = Counter(word["text"].lower() for of in annotated for word in of)
        tokens.append(describe_example(idx, annotated, *layout, counts))
    tables = measure(store, tokens, 1)
    return {
        name: _tried(lambda name=name: tables[name], _optional(entry.table))
        for name, entry in MEASURES.items()
    }


def _annotated(text: str) -> list[dict[str, Any]]:
    """Words that are in turn subject, verb and a pronoun for the subject."""
    words, start = [], 0
    for number, word in enumerate(text.split()):
        start = text.index(word, start)
        tag, dep, head, noun = (
            ("NN", "nsubj", number + 1, None),
            ("VBZ", "root", number, None),
            ("PRP", "dobj", number - 1, number - 2),
        )[number % 3]
        head = min(head, len(text.split()) - 1)
        words.append({"text": word, "start": start, "end": start + len(word), "tag": tag})
        words[-1] |= {"dep": dep, "head": head, "antecedent": noun}
    return words


def _framenet(model: Path, output: Path) -> Any:
    text = "The painter bought pictures of horses."
    assert text.split()[1] in SENTENCES[1]
    annotation = Annotation(text, (12, 18), (Element((4, 11)), Element((31, 37))))
    extract(model, {"sentence1": [text]}, output)
    weights = heads.measure(heads.Linked(AttentionStore.open(output), [annotation]))
    return heads.table(weights, 99, 1)


def _norms(model: Path) -> str:
    if preflight.unobserved(model):
        return "left out"
    found = measure_norms(Reading(model, 128, 4), {"idx": IDX, **PAIRS}, 1)
    heads, levels = norms({"random": found}, "random", 1)["random"]
    intervals = [name for name in levels if name.endswith(("_low", "_high", "correlation"))]
    for table in (heads, levels.drop(columns="layer")):
        _tried(lambda table=table: table, [name for name in intervals if name in table])
    return "yes"


def _sweep(model: Path, data: Path) -> str:
    classifier, _ = loading.load_classifier(model, TASK, seed=1)
    split = load_split(data, "validation", loading.load_tokenizer(model), TASK, 128)
    sets = [None, *(Disable({layer: frozenset({1, 2})}) for layer in (1, 2, 3))]
    backend = choose_backend(classifier, split, sets)
    with torch.inference_mode():
        assert np.isfinite(backend.logits([0, 1, 2, 3], np.ones((4, 4), dtype=bool))).all()
    return f"`{backend.name}`"


def refusals(folder: Path) -> dict[str, str]:
    """Messages for models that are refused, without the folder's name."""
    messages = {}
    for model_type, settings in REFUSED.items():
        model = folder / model_type
        AutoConfig.for_model(model_type, vocab_size=100, **settings).save_pretrained(model)
        try:
            checkpoints.check_attention(model, 128)
        except InputError as error:
            messages[model_type] = str(error).replace(f"{model}: ", "")
    return messages


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables(folder: Path) -> dict[str, str]:
    """The tables of the page, from trials in a folder."""
    found = dict(outcomes(folder))
    names = list(next(iter(found.values())).columns)
    parts = {"inputs": names[:3], "results": names[3:]}
    made = {}
    for name, part in parts.items():
        header = [f"`{key}`" if key in MEASURES else key for key in part]
        rows = [[family, *(one.columns[key] for key in part)] for family, one in found.items()]
        made[name] = _table(["encoder", *header], rows)
    reasons = [[family, one.left_out] for family, one in found.items() if one.left_out]
    made["unreachable"] = _table(["encoder", "message"], reasons)
    messages = [[f"`{name}`", message] for name, message in refusals(folder).items()]
    made["refused"] = _table(["type", "message"], messages)
    return made


def filled(page: str, folder: Path) -> str:
    """The page with its tables made anew."""
    for name, table in tables(folder).items():
        before, mark, rest = page.partition(f"<!-- {name} -->\n")
        page = f"{before}{mark}{table}\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return page


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        PAGE.write_text(filled(PAGE.read_text("utf-8"), Path(temporary)), "utf-8")
