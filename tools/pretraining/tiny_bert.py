"""Pre-training of the tiny BERT: masked language model and next sentence prediction.

Both tasks as in Devlin et al. (2018), section 3.1, on the generated corpus. The weights ship in
``resources/tiny-bert``; this module reproduces them. All randomness derives from the seed: every
example is a function of the seed and its number, so that a run that was killed and resumed from a
checkpoint ends with the same weights as one that was not.
"""

# ruff: noqa: ARG002 - the Trainer fixes the arguments of the methods that it calls

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import torch
import transformers
from scipy.sparse import csr_array
from torch.nn.functional import cross_entropy
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForPreTraining,
    DataCollatorForLanguageModeling,
    PreTrainedTokenizerBase,
    Trainer,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    set_seed,
)
from transformers.trainer_utils import get_last_checkpoint

from darksecrets.core.data.batches import alike
from darksecrets.core.models.precision import resolve
from darksecrets.core.run.files import atomic, write_json, write_text
from darksecrets.core.run.progress import progress
from darksecrets.core.run.records import describe_environment
from darksecrets.core.run.resuming import finish, resuming
from darksecrets.paper.finetuning.training import Progress
from tools.corpus.documents import pretraining_documents
from tools.pretraining.head_table import head_table, summary
from tools.pretraining.tables import HEADS, LOG
from tools.pretraining.tokenizer import train_tokenizer

IGNORED = -100  # PyTorch's label of positions that are not predicted
DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob")
QUERY_RANGE = 0.05  # standard deviation of the first query and key weights
HARD = 0.75  # share of the random second segments that share words with the first
LONG = 0.05  # share of examples with many sentences
_POOL = 50  # batches in each of which examples are sorted by their lengths
SPECIALS_OF_A_PAIR = 3  # [CLS] A [SEP] B [SEP]


@dataclass(frozen=True)
class Configuration:
    """Size of the tiny BERT and settings of its pre-training; the shipped weights use the defaults.

    Attributes:
        documents: Documents of the generated corpus to train on.
        heldout_documents: Further documents, for evaluation only.
        heldout_pairs: Sentence pairs drawn from them.
        table_pairs: Sentence pairs drawn from them for the table of heads.
        vocabulary: Size of the vocabulary, special tokens included.
        max_length: Longest pair in word pieces, special tokens included; longer ones are cut.
        steps: Optimizer steps.
        learning_rate: Peak learning rate, after ``warmup_steps``; then it falls linearly to 0.
        dropout: Dropout in pre-training; 0, because no example is used twice.
        finetuning_dropout: Dropout in the saved configuration, for fine-tuning.
        mask_probability: Share of the word pieces to predict; of these, 80% become [MASK], 10% a
            random word piece, and 10% are unchanged.
    """

    documents: int = 80_000
    heldout_documents: int = 1_000
    heldout_pairs: int = 1_000
    table_pairs: int = 300
    vocabulary: int = 1_500
    layers: int = 6
    heads: int = 6
    hidden: int = 192
    intermediate: int = 512
    positions: int = 128
    max_length: int = 128
    batch_size: int = 64
    steps: int = 15_000
    learning_rate: float = 1.5e-3
    warmup_steps: int = 500
    weight_decay: float = 0.01
    dropout: float = 0.0
    finetuning_dropout: float = 0.0
    mask_probability: float = 0.15
    precision: str = "auto"
    evaluate_every: int = 500
    save_every: int = 500


@dataclass(frozen=True)
class Text:
    """Tokenised documents in flat arrays: consecutive sentences are one slice of the word pieces.

    Attributes:
        pieces: Word-piece ids of all sentences of all documents, concatenated.
        sentences: ``[sentences + 1]``, where each sentence begins in ``pieces``, and the end.
        documents: ``[documents + 1]``, where each document begins in ``sentences``, and the end.
    """

    pieces: np.ndarray
    sentences: np.ndarray
    documents: np.ndarray

    def fingerprint(self) -> str:
        """SHA-256 of the word pieces, and of where sentences and documents begin."""
        digest = hashlib.sha256()
        for array in (self.pieces, self.sentences, self.documents):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def slice(self, first: int, last: int) -> np.ndarray:
        """Return the word pieces of the sentences from ``first`` up to, but without, ``last``."""
        return self.pieces[self.sentences[first] : self.sentences[last]]


@dataclass(frozen=True)
class Pairs:
    """Segments A and B of every example, as ranges of sentences of a ``Text``.

    All arrays have one entry per example; the end of a range is exclusive. ``is_random`` is 0 if B
    follows A in its document, and 1 if B is from another one.
    """

    a_first: np.ndarray
    a_last: np.ndarray
    b_first: np.ndarray
    b_last: np.ndarray
    is_random: np.ndarray

    def __len__(self) -> int:
        return len(self.is_random)

    def take(self, order: np.ndarray) -> Pairs:
        """Return the pairs in another order."""
        return Pairs(*(getattr(self, name)[order] for name in self.__dataclass_fields__))


def tokenise(documents: Sequence[Sequence[str]], tokenizer: PreTrainedTokenizerBase) -> Text:
    """Turn documents (lists of sentences) into word pieces, without special tokens."""
    sentences = [sentence for document in documents for sentence in document]
    ids = tokenizer(sentences, add_special_tokens=False, return_attention_mask=False)["input_ids"]
    return Text(
        pieces=np.concatenate([np.asarray(i, dtype=np.int32) for i in ids]),
        sentences=np.cumsum([0, *map(len, ids)]),
        documents=np.cumsum([0, *map(len, documents)]),
    )


def similar_sentences(
    text: Text, anchors: np.ndarray, rng: np.random.Generator, candidates: int = 16
) -> np.ndarray:
    """Draw for every anchor a sentence of another document that shares words with it.

    First, ``candidates`` sentences are drawn that share a word piece with the anchor; rare pieces
    are preferred. The most similar candidate is chosen: the one with the greatest total weight of
    shared pieces (inverse document frequency). Sentences that share nearly all pieces are skipped,
    because they say the same.

    Args:
        text: The sentences to draw from.
        anchors: Numbers of sentences.
        rng: Source of randomness.
        candidates: Number of candidates per anchor.

    Returns:
        A sentence number for every anchor, -1 if no candidate is suitable.
    """
    weights = _weights_of_pieces(text)
    holders = weights.tocsc()
    document = np.repeat(np.arange(len(text.documents) - 1), np.diff(text.documents))
    upto = np.concatenate([[0.0], np.cumsum(weights.data)])
    found = np.empty(len(anchors), dtype=np.int64)
    for start in range(0, len(anchors), 5_000):  # bounds the memory
        rows = anchors[start : start + 5_000]
        low, high = upto[weights.indptr[rows]], upto[weights.indptr[rows + 1]]
        entry = np.searchsorted(upto, rng.uniform(low, high), side="right") - 1
        piece = weights.indices[np.minimum(entry, weights.indptr[rows + 1] - 1)]
        first, count = holders.indptr[piece], np.diff(holders.indptr)[piece]
        place = rng.integers(0, count[:, None], (len(rows), candidates))
        drawn = holders.indices[first[:, None] + place]
        repeated = np.repeat(rows, candidates)
        shared = weights[repeated].multiply(weights[drawn.ravel()]).sum(axis=1)
        score = np.asarray(shared).reshape(drawn.shape)
        most = np.asarray(weights[rows].power(2).sum(axis=1)).reshape(-1, 1)
        barred = (score > 0.9 * most) | (document[drawn] == document[rows][:, None])
        best = np.where(barred, -1.0, score).argmax(axis=1)[:, None]
        chosen = np.where(
            np.take_along_axis(barred, best, 1), -1, np.take_along_axis(drawn, best, 1)
        )
        found[start : start + 5_000] = chosen[:, 0]
    return found


def _weights_of_pieces(text: Text) -> csr_array:
    """Inverse document frequency of every sentence's distinct word pieces, [sentence, piece]."""
    sentences = len(text.sentences) - 1
    row = np.repeat(np.arange(sentences), np.diff(text.sentences))
    counts = csr_array((np.ones(len(row)), (row, text.pieces)))
    counts.sum_duplicates()
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    counts.data = np.log(sentences / frequency[counts.indices])
    return counts


def draw_pairs(text: Text, count: int, rng: np.random.Generator) -> Pairs:
    """Draw examples for next sentence prediction.

    A is one sentence of a random document or, less often, several. In half of the examples, B is
    the text that follows A. In the others, B begins at a random sentence of another document,
    usually one that shares words with A, because the tasks of fine-tuning depend on small
    differences. A few examples have many sentences, so that late positions are trained, too.
    """
    first, last = text.documents[:-1], text.documents[1:]
    usable = np.flatnonzero(last - first >= 2)
    place = rng.integers(0, len(usable), count)
    is_random = rng.integers(0, 2, count)
    # Any other document: an offset of 1 … n−1, modulo n.
    distance = rng.integers(1, len(usable), count)
    document, other = usable[place], usable[(place + distance) % len(usable)]

    a_first = rng.integers(first[document], last[document] - 1)
    ends = np.where(rng.random(count) < LONG, 0.2, 0.75)  # chance that a sentence is the last
    a_last = np.minimum(a_first + rng.geometric(ends), last[document] - 1)
    b_first = np.where(is_random, rng.integers(first[other], last[other]), a_last)
    hard = np.flatnonzero(is_random & (rng.random(count) < HARD))
    similar = similar_sentences(text, a_last[hard] - 1, rng)
    b_first[hard] = np.where(similar < 0, b_first[hard], similar)
    b_document = np.searchsorted(text.documents, b_first, side="right") - 1
    b_last = np.minimum(b_first + rng.geometric(ends), last[b_document])
    return Pairs(a_first, a_last, b_first, b_last, is_random)


def pair_lengths(text: Text, pairs: Pairs, max_length: int) -> np.ndarray:
    """Return each example's length in tokens, special tokens included, after truncation."""
    starts = text.sentences
    a = starts[pairs.a_last] - starts[pairs.a_first]
    b = starts[pairs.b_last] - starts[pairs.b_first]
    return np.minimum(a + b + SPECIALS_OF_A_PAIR, max_length)


def encode(
    text: Text, pairs: Pairs, index: int, tokenizer: PreTrainedTokenizerBase, max_length: int
) -> dict[str, Any]:
    """Build one example: [CLS] A [SEP] B [SEP], truncated at the end of the longer segment."""
    a = text.slice(pairs.a_first[index], pairs.a_last[index])
    b = text.slice(pairs.b_first[index], pairs.b_last[index])
    room = max_length - SPECIALS_OF_A_PAIR
    keep_b = min(len(b), max(room // 2, room - len(a)))
    keep_a = min(len(a), room - keep_b)
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    return {
        "input_ids": [cls, *a[:keep_a].tolist(), sep, *b[:keep_b].tolist(), sep],
        "token_type_ids": [0] * (keep_a + 2) + [1] * (keep_b + 1),
        "next_sentence_label": int(pairs.is_random[index]),
        "index": index,
    }


class Examples(torch.utils.data.Dataset[dict[str, Any]]):
    """Examples by number, built on access."""

    def __init__(
        self, text: Text, pairs: Pairs, tokenizer: PreTrainedTokenizerBase, max_length: int
    ) -> None:
        self.text, self.pairs, self.tokenizer = text, pairs, tokenizer
        self.max_length = max_length

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return encode(self.text, self.pairs, index, self.tokenizer, self.max_length)


def masking_collator(
    tokenizer: PreTrainedTokenizerBase, probability: float, seed: int
) -> Callable[[list[dict[str, Any]]], dict[str, torch.Tensor]]:
    """Make the function that pads the examples of a batch and masks words in them.

    The random numbers of a batch derive from the seed and the number of its first example, not from
    a running generator, because a resumed run skips the batches before it.
    """
    mask = DataCollatorForLanguageModeling(tokenizer, mlm_probability=probability)

    def collate(examples: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        first = examples[0]["index"]
        columns = [{k: v for k, v in e.items() if k != "index"} for e in examples]
        number = np.random.SeedSequence([seed, first]).generate_state(1, np.uint64)[0]
        mask.generator = torch.Generator().manual_seed(int(number) % 2**63)
        return dict(mask(columns))

    return collate


def evaluate(
    model: torch.nn.Module, batches: Sequence[dict[str, torch.Tensor]]
) -> dict[str, float]:
    """Score both tasks on masked batches.

    Returns:
        ``mlm_loss`` (nats per masked word piece), ``mlm_accuracy``, ``nsp_loss`` (nats per
        pair) and ``nsp_accuracy``; accuracies are in [0, 1].
    """
    sums = np.zeros(6)
    model.train(False)
    device = next(model.parameters()).device
    with torch.inference_mode():
        for batch in batches:
            inputs = {name: values.to(device) for name, values in batch.items()}
            labels, is_random = inputs.pop("labels"), inputs.pop("next_sentence_label")
            output = model(**inputs)
            masked = labels != IGNORED
            words, pairs = output.prediction_logits[masked], output.seq_relationship_logits
            sums += [
                cross_entropy(words, labels[masked], reduction="sum").item(),
                (words.argmax(-1) == labels[masked]).sum().item(),
                masked.sum().item(),
                cross_entropy(pairs, is_random, reduction="sum").item(),
                (pairs.argmax(-1) == is_random).sum().item(),
                len(pairs),
            ]
    return {
        "mlm_loss": sums[0] / sums[2],
        "mlm_accuracy": sums[1] / sums[2],
        "nsp_loss": sums[3] / sums[5],
        "nsp_accuracy": sums[4] / sums[5],
    }


def sinusoids(positions: int, hidden: int) -> torch.Tensor:
    """Sines and cosines of the position, ``[positions, hidden]`` (Vaswani et al. 2017, 3.5)."""
    frequencies = 10_000.0 ** (-torch.arange(0, hidden, 2) / hidden)
    angles = torch.arange(positions)[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def new_model(
    configuration: Configuration, tokenizer: PreTrainedTokenizerBase, seed: int
) -> BertForPreTraining:
    """Make a BERT with random weights (normal, standard deviation 0.02), with two exceptions.

    Position embeddings are initialized as sinusoids of that size: their inner product depends only
    on the distance. Keys are initialized equal to queries, so that heads first attend to similar
    and near tokens (as in Trockman and Kolter 2023). From there, heads for the previous and the
    next token emerge within a thousand steps; BERT's own training takes a million.
    """
    set_seed(seed)
    model = BertForPreTraining(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=configuration.hidden,
            num_hidden_layers=configuration.layers,
            num_attention_heads=configuration.heads,
            intermediate_size=configuration.intermediate,
            max_position_embeddings=configuration.positions,
            hidden_dropout_prob=configuration.dropout,
            attention_probs_dropout_prob=configuration.dropout,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    # On a CPU, the backward pass of the fused kernel takes longer than the rest of such a small
    # model: 0.23 s a step instead of 0.14 s.
    model.set_attn_implementation("eager")
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, query in parameters.items():
            if name.endswith("self.query.weight"):
                query.normal_(0, QUERY_RANGE)
                parameters[name.replace("query", "key")].copy_(query)
        positions = model.bert.embeddings.position_embeddings.weight
        positions.copy_(sinusoids(*positions.shape) * model.config.initializer_range * 2**0.5)
    return model


def training_arguments(
    configuration: Configuration, checkpoints: Path, seed: int
) -> TrainingArguments:
    """The ``TrainingArguments`` of a configuration."""
    return TrainingArguments(
        output_dir=str(checkpoints),
        per_device_train_batch_size=configuration.batch_size,
        max_steps=configuration.steps,
        learning_rate=configuration.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=configuration.warmup_steps,
        weight_decay=configuration.weight_decay,
        bf16=resolve(configuration.precision) == "bfloat16",
        use_cpu=not torch.accelerator.is_available(),  # required for bf16 on a CPU
        seed=seed,
        train_sampling_strategy="sequential",  # the examples are already in order
        remove_unused_columns=False,
        label_names=["labels", "next_sentence_label"],
        eval_strategy="steps",
        eval_steps=configuration.evaluate_every,
        eval_on_start=True,
        save_strategy="steps",
        save_steps=configuration.save_every,
        save_total_limit=2,
        logging_steps=min(100, configuration.evaluate_every),
        disable_tqdm=True,
        report_to="none",
    )


class _Reports(Progress):
    """Reports progress in steps, and records checkpoints once they are complete."""

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        finish(Path(str(args.output_dir)) / f"checkpoint-{state.global_step}")


class PretrainingTrainer(Trainer):
    """A ``Trainer`` that scores both tasks on the same masked, held-out batches every time.

    ``eval_dataset`` is the list of these batches.
    """

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:  # noqa: ANN401 - Trainer's own
        """Score the model; the log history, and so checkpoints, keep the scores."""
        batches = cast("Sequence[dict[str, torch.Tensor]]", self.eval_dataset)
        scores = evaluate(cast("torch.nn.Module", self.model), batches)
        scores = {f"eval_{name}": score for name, score in scores.items()}
        self.log(scores)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, scores
        )
        return scores


def learning_curve(history: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Extract the held-out scores from a trainer's log history, one row per evaluation.

    A resumed run scored its checkpoint twice; only one row is kept.
    """
    columns = ["mlm_loss", "nsp_loss", "mlm_accuracy", "nsp_accuracy"]
    rows = [entry for entry in history if "eval_mlm_loss" in entry]
    return pd.DataFrame(
        [[entry["step"], *(entry[f"eval_{c}"] for c in columns)] for entry in rows],
        columns=["step", *columns],
    ).drop_duplicates("step", ignore_index=True)


def heldout_batches(
    text: Text, tokenizer: PreTrainedTokenizerBase, configuration: Configuration, seed: int
) -> list[dict[str, torch.Tensor]]:
    """Draw pairs of held-out text and mask them, once for the whole run."""
    rng = np.random.default_rng([seed, 1])
    pairs = draw_pairs(text, configuration.heldout_pairs, rng)
    lengths = pair_lengths(text, pairs, configuration.max_length)
    pairs = pairs.take(np.argsort(lengths, kind="stable"))
    examples = Examples(text, pairs, tokenizer, configuration.max_length)
    collate = masking_collator(tokenizer, configuration.mask_probability, seed)
    size = configuration.batch_size
    return [
        collate([examples[i] for i in range(start, min(start + size, len(examples)))])
        for start in range(0, len(examples), size)
    ]


def train(
    text: Text,
    heldout: Text,
    tokenizer: PreTrainedTokenizerBase,
    checkpoints: Path,
    configuration: Configuration,
    seed: int,
) -> tuple[BertForPreTraining, pd.DataFrame]:
    """Train a new model, or resume from the last checkpoint in ``checkpoints`` if there is one.

    All checkpoints there must be whole, see `resuming`.
    """
    rng = np.random.default_rng([seed, 0])
    count = configuration.steps * configuration.batch_size  # no pair or mask is used twice
    pairs = draw_pairs(text, count, rng)
    lengths = pair_lengths(text, pairs, configuration.max_length)
    pairs = pairs.take(alike(lengths, configuration.batch_size, _POOL, rng))
    model = new_model(configuration, tokenizer, seed)
    trainer = PretrainingTrainer(
        model=model,
        args=training_arguments(configuration, checkpoints, seed),
        train_dataset=Examples(text, pairs, tokenizer, configuration.max_length),
        eval_dataset=heldout_batches(heldout, tokenizer, configuration, seed),
        data_collator=masking_collator(tokenizer, configuration.mask_probability, seed),
    )
    last = get_last_checkpoint(str(checkpoints))  # type: ignore[no-untyped-call]
    with progress("Pre-training", configuration.steps, "steps") as advance:
        trainer.add_callback(_Reports(advance))
        trainer.train(resume_from_checkpoint=last)
    return model, learning_curve(trainer.state.log_history)


def measure_heads(
    folder: Path, heldout: Text, configuration: Configuration, seed: int
) -> tuple[pd.DataFrame, pd.Series]:
    """Make the table of heads of a saved model on held-out pairs (see ``head_table``)."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = BertForPreTraining.from_pretrained(folder, dtype=torch.float32)
    rng = np.random.default_rng([seed, 2])
    pairs = draw_pairs(heldout, configuration.table_pairs, rng)
    examples = Examples(heldout, pairs, tokenizer, configuration.max_length)
    return head_table(model, tokenizer, (examples[i] for i in range(len(examples))))


def record(
    model: BertForPreTraining,
    curve: pd.DataFrame,
    texts: tuple[Text, Text],
    configuration: Configuration,
    seed: int,
    threads: int,
) -> dict[str, Any]:
    """Record how the weights were made: configuration, seed, corpus, versions, machine, time."""
    training, heldout = (
        {"sentences": len(t.sentences) - 1, "pieces": len(t.pieces)} for t in texts
    )
    return {
        "configuration": asdict(configuration),
        "seed": seed,
        "threads": threads,
        "precision": resolve(configuration.precision),
        "corpus": {"training": training, "heldout": heldout},
        "parameters": sum(p.numel() for p in model.parameters()),
        "result": curve.iloc[-1].to_dict(),
        "environment": describe_environment(),
    }


def pretrain(output: Path, *, configuration: Configuration, seed: int, threads: int) -> None:
    """Pre-train the tiny BERT on the generated corpus, and write its tables and its record.

    The last two checkpoints are kept beside ``output`` until it is written. When called again with
    the same arguments, the function resumes from the last one that is not damaged.

    Args:
        output: Folder for the model (with the heads of both pre-training tasks), its tokenizer,
            ``pretraining.json``, ``pretraining_log.csv``, ``heads.csv`` and ``heads.md``.
        configuration: Size and training of the model.
        seed: Seed of the corpus, the pairs, the masks and the weights.
        threads: Number of CPU threads.
    """
    torch.set_num_threads(threads)
    c = configuration
    documents = list(pretraining_documents(c.documents + c.heldout_documents, seed))
    training, heldout = documents[: c.documents], documents[c.documents :]
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = train_tokenizer(chain.from_iterable(training), c.vocabulary, Path(folder))
    texts = tokenise(training, tokenizer), tokenise(heldout, tokenizer)
    identity = {
        "configuration": asdict(c),
        "seed": seed,
        "precision": resolve(c.precision),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
        "texts": [text.fingerprint() for text in texts],
    }
    with resuming(output, identity, "checkpoint-*") as checkpoints:
        model, curve = train(*texts, tokenizer, checkpoints, c, seed)
        model.config.update(dict.fromkeys(DROPOUTS, c.finetuning_dropout))
        with atomic(output) as folder:
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            LOG.write(curve, folder / LOG.file)
            heads, uniform = measure_heads(folder, texts[1], c, seed)
            HEADS.write(heads, folder / HEADS.file)
            write_text(summary(heads, uniform), folder / "heads.md")
            write_json(record(model, curve, texts, c, seed, threads), folder / "pretraining.json")
