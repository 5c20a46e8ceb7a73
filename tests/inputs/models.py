"""Model folders that are wrong: one thing is changed in a copy of the tiny BERT."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from darksecrets.core.run.files import RESOURCES
from inputs.cases import Case, Config, edit_json, run

WEIGHTS = "model.safetensors"


def copied(folder: Path) -> Path:
    """A copy of the tiny BERT."""
    copy = folder / "model"
    shutil.copytree(RESOURCES / "tiny-bert", copy)
    return copy


def of(folder: Path) -> Config:
    """A run of a model in a folder."""
    return run(model={"source": "folder", "folder": str(folder)})


def _changed(name: str, change: Callable[[Path], object], *words: str) -> Case:
    def make(folder: Path) -> Config:
        model = copied(folder)
        change(model)
        return of(model)

    return Case(f"model: {name}", make, ("/model", *words))


def _settings(words: tuple[str, ...], **keys: object) -> Case:
    name = ", ".join(f"{k}: {v!r}" for k, v in keys.items())
    return _changed(name, lambda m: edit_json(m / "config.json", **keys), *words)


def _bytes(name: str, file: str, content: bytes, *words: str) -> Case:
    return _changed(f"{file}: {name}", lambda m: (m / file).write_bytes(content), file, *words)


def _tensors(name: str, change: Callable[[dict[str, np.ndarray]], object], *words: str) -> Case:
    def rewrite(model: Path) -> None:
        tensors = {k: np.array(v) for k, v in load_file(model / WEIGHTS).items()}
        change(tensors)
        save_file(tensors, model / WEIGHTS, metadata={"format": "pt"})

    return _changed(f"weights: {name}", rewrite, *words)


def _cut(size: int) -> Callable[[Path], object]:
    return lambda m: (m / WEIGHTS).write_bytes((m / WEIGHTS).read_bytes()[:size])


def _overwrite(start: int, content: bytes) -> Callable[[Path], object]:
    def change(model: Path) -> None:
        with (model / WEIGHTS).open("r+b") as stream:
            stream.seek(start)
            stream.write(content)

    return change


def _delete(*names: str) -> Callable[[Path], object]:
    return lambda m: [(m / name).unlink(missing_ok=True) for name in names]


def _pickled(model: Path) -> None:
    (model / WEIGHTS).rename(model / "pytorch_model.bin")


def _t5(model: Path) -> None:
    (model / "config.json").write_text('{"model_type": "t5", "num_layers": 2}')


def _rename_token(model: Path) -> None:
    file = model / "tokenizer.json"
    file.write_text(file.read_text().replace('"[CLS]"', '"[BEGIN]"'))


def _more_pieces(model: Path) -> None:
    file = model / "tokenizer.json"
    content = json.loads(file.read_text())
    content["model"]["vocab"] |= {f"extra{i}": 1499 + i for i in range(100)}
    file.write_text(json.dumps(content))


def _fewer_pieces(model: Path) -> None:
    file = model / "tokenizer.json"
    content = json.loads(file.read_text())
    vocabulary = content["model"]["vocab"]
    content["model"]["vocab"] = {piece: n for piece, n in vocabulary.items() if n < 1300}
    file.write_text(json.dumps(content))


def pieces_of(model: Path) -> list[str]:
    """The word pieces of a model, in the order of their numbers."""
    vocabulary = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.__getitem__)


def _other_vocabulary(model: Path) -> None:
    (model / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", *reversed(pieces_of(model))]))


_WORDS, _QUERY = (
    "bert.embeddings.word_embeddings.weight",
    "bert.encoder.layer.3.attention.self.query.weight",
)
_SHAPE, _MISSING = ("cannot be loaded as a 'bert' encoder",), ("lacks", "would stay random")


def _sharded(model: Path, name: str) -> None:
    """One weight file in an index, which says where it is."""
    (model / "weights").mkdir()
    (model / WEIGHTS).rename(model.parent / "outside.safetensors")
    tensors = load_file(model.parent / "outside.safetensors")
    content = {"metadata": {}, "weight_map": dict.fromkeys(tensors, name)}
    (model / f"{WEIGHTS}.index.json").write_text(json.dumps(content))


_INDEX = f"{WEIGHTS}.index.json"
CASES = [
    *(
        _changed(f"an index of {name}", lambda m, name=name: _sharded(m, name), _INDEX, name)
        for name in ("../outside.safetensors", "/etc/passwd", "weights/../x", "none.safetensors")
    ),
    *(
        _changed(
            f"an index that is {content}",
            lambda m, content=content: [
                (m / WEIGHTS).unlink(),
                (m / f"{WEIGHTS}.index.json").write_text(content),
            ],
            _INDEX,
        )
        for content in ("{}", "[]", '{"weight_map": [1]}', '{"weight_map": {"a": 1}}', "{")
    ),
    _settings(("config.json", "'six'"), num_attention_heads="six"),
    _settings(("not a multiple",), num_attention_heads=5),
    _settings(("no usable attention maps",), num_attention_heads=0),
    _settings(("no usable attention maps",), num_attention_heads=-6),
    _settings((*_MISSING, "12 layers"), num_hidden_layers=12),
    _settings(("does not describe", "2 layers"), num_hidden_layers=2),
    _settings(("num_hidden_layers: 0", "positive whole number"), num_hidden_layers=0),
    _settings(("1000000000 layers", "110 tensors"), num_hidden_layers=10**9),
    _settings((*_SHAPE, "192", "96"), hidden_size=96),
    _settings(("weights", "bytes"), hidden_size=6 * 10**6),
    _settings(("no usable attention maps",), hidden_size=-192),
    _settings((*_SHAPE, "1499 × 192", "1400 × 192"), vocab_size=1400),
    _settings((*_SHAPE, "1000000 × 192"), vocab_size=10**6),
    _settings((*_SHAPE, "128 × 192", "512 × 192"), max_position_embeddings=512),
    _settings(("takes at most 64 tokens",), max_position_embeddings=64),
    _settings((*_SHAPE, "100"), intermediate_size=100),
    _settings(("bytes",), intermediate_size=10**9),
    _settings((*_SHAPE, "2 × 192", "1 × 192"), type_vocab_size=1),
    _settings(("does not know", "xyz"), model_type="xyz"),
    _settings(("does not know",), model_type=5),
    _settings(("a decoder",), model_type="gpt2", n_layer=2, n_head=2, n_embd=32),
    _changed("an encoder–decoder", _t5, "an encoder–decoder"),
    _settings(("does not know", "classifier_dropout"), model_type="t5"),
    _settings(_MISSING, model_type="fnet"),
    _settings(("zzz",), hidden_act="zzz"),
    _settings(("no usable attention maps",), pad_token_id=10**9),
    _settings(("auto_map", "never run"), auto_map={"AutoModel": "evil.Evil"}),
    _settings(("auto_map", "never run"), auto_map={"AutoConfig": "evil.C", "AutoModel": "evil.M"}),
    _settings(("a decoder",), is_decoder=True),
    _settings(("position_embedding_type", "absolute"), position_embedding_type="relative_key"),
    _settings(("quantization_config", "are quantized"), quantization_config={"load_in_8bit": 1}),
    _settings(("pruned_heads", "before its heads were pruned"), pruned_heads={"0": [0, 1]}),
    _settings(("attention_probs_dropout_prob is nan",), attention_probs_dropout_prob=math.nan),
    _settings(("hidden_dropout_prob is 1.5", "probability"), hidden_dropout_prob=1.5),
    _settings(("classifier_dropout is -0.1", "probability"), classifier_dropout=-0.1),
    _settings(("initializer_range is inf", "a number"), initializer_range=math.inf),
    _changed(
        "code of the tokenizer",
        lambda m: edit_json(
            m / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.T", None]}
        ),
        "tokenizer_config.json",
        "auto_map",
    ),
    _changed(
        "a tokenizer for short texts",
        lambda m: edit_json(m / "tokenizer_config.json", model_max_length=64),
        "the tokenizer is for at most 64 tokens",
    ),
    *(
        _changed(
            f"an adapter beside it: {name}",
            lambda m, name=name: (m / name).write_text("{}"),
            name,
            "merge_and_unload",
        )
        for name in ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")
    ),
    _changed("no config.json", _delete("config.json"), "missing config.json"),
    _changed("no weights", _delete(WEIGHTS), "missing model.safetensors"),
    _changed("no tokenizer", _delete("tokenizer.json", "vocab.txt"), "a tokenizer"),
    _changed("pickled weights", _pickled, "pickled weights can run code"),
    _bytes("an open brace", "config.json", b"{\n", "line 2", "JSON"),
    _bytes("a list", "config.json", b"[]", "is a list"),
    _bytes("empty", "config.json", b"", "JSON"),
    _bytes("Latin-1", "config.json", b'{"a": "\xe9"}', "UTF-8"),
    _bytes("an empty object", "config.json", b"{}", "does not know"),
    _bytes("deep", "config.json", b"[" * 10**5, "JSON"),
    _bytes("an open brace", "tokenizer_config.json", b"{", "JSON"),
    _bytes("empty", WEIGHTS, b"", "0 bytes"),
    _bytes(
        "text",
        WEIGHTS,
        b"version https://git-lfs.github.com/spec/v1\n",
        "not a complete safetensors",
    ),
    _bytes("zeros", WEIGHTS, bytes(1000), WEIGHTS),
    _changed(
        "a tokenizer of an open brace",
        lambda m: (m / "tokenizer.json").write_text("{"),
        "tokenizer",
    ),
    _changed("an empty tokenizer", lambda m: (m / "tokenizer.json").write_text(""), "tokenizer"),
    _changed("a renamed token", _rename_token, "word pieces"),
    _changed("a smaller vocabulary", _fewer_pieces, "1300 word pieces", "1499"),
    _changed("another vocab.txt", _other_vocabulary, "vocab.txt and tokenizer.json", "different"),
    _changed("a larger vocabulary", _more_pieces, "1599 word pieces", "1499"),
    _changed("weights cut in half", _cut(3_000_000), "not a complete safetensors file"),
    _changed("weights cut in the header", _cut(500), "not a complete safetensors file"),
    _changed("weights without a header", _cut(4), "not a complete safetensors file"),
    _changed("a damaged header", _overwrite(20, b"\xff" * 30), "not a complete safetensors file"),
    _tensors("one is missing", lambda t: t.pop(_QUERY), *_MISSING),
    _tensors("embeddings are missing", lambda t: t.pop(_WORDS), *_MISSING),
    _tensors("one has another name", lambda t: t.update({"x": t.pop(_QUERY)}), *_MISSING),
    _tensors(
        "one has another shape", lambda t: t.update({_QUERY: t[_QUERY][:, :96].copy()}), "192 × 96"
    ),
    *(
        _tensors(
            f"one is of {kind}",
            lambda t, kind=kind: t.update({_QUERY: t[_QUERY].astype(kind)}),
            name,
            "quantized",
        )
        for kind, name in (("int8", "I8"), ("uint8", "U8"), ("int64", "I64"))
    ),
    _tensors("one is a vector", lambda t: t.update({_QUERY: t[_QUERY].ravel()}), *_SHAPE),
    _tensors(
        "another layer",
        lambda t: t.update({_QUERY.replace("3", "6"): t[_QUERY]}),
        "does not describe",
    ),
    _tensors("none", lambda t: [t.pop(name) for name in list(t)], "config.json"),
    Case("model: no folder", lambda f: of(f / "none"), ("none", "no such folder")),
    Case("model: an empty folder", of, ("has no file", "missing config.json")),
    Case("model: a folder with NUL", lambda _: of(Path("a\0b")), ("no such folder",)),
    Case("model: a long name", lambda _: of(Path("x" * 300)), ("cannot be read",)),
]
