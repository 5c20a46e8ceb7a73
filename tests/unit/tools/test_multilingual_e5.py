"""The converted encoder: weights, word pieces and outputs against plain loops over the file."""

import math
import struct
import sys

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from tools import multilingual_e5
from tools.multilingual_e5 import PackedModel, PackedModelError, convert, read_texts, used_pieces

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 4, 64, 24
EPSILON = 1e-12
PIECES = {
    "<s>": 0.0,
    "<pad>": 0.0,
    "</s>": 0.0,
    "<unk>": 0.0,
    "▁": -3.0,
    "▁the": -2.0,
    "▁c": -4.0,
    "at": -3.5,
    "▁cat": -7.6,
    "s": -2.5,
    "▁satte": -9.0,
    "▁sat": -5.0,
    "t": -4.0,
    "te": -9.5,
    "é": -6.0,
    "龍": -11.0,
    "<mask>": 0.0,
}
SHAPES = {
    "emb.word": (len(PIECES), HIDDEN),
    "emb.pos": (POSITIONS, HIDDEN),
    "emb.type": (2, HIDDEN),
    "emb.ln.w": (HIDDEN,),
    "emb.ln.b": (HIDDEN,),
}
for _number in range(LAYERS):
    for _part in ("q", "k", "v", "ao", "aln", "fi", "fo", "oln"):
        _out, _in = (INNER if _part == "fi" else HIDDEN), (INNER if _part == "fo" else HIDDEN)
        SHAPES[f"l{_number}.{_part}.w"] = (_out,) if _part.endswith("ln") else (_out, _in)
        SHAPES[f"l{_number}.{_part}.b"] = (_out,)


def quantized(rng, shape):
    """Random 4-bit weights of a matrix: as bytes of the file, and as numbers."""
    packed, values = b"", []
    for _ in range(math.prod(shape) // 32):
        scale = np.float16(rng.uniform(0.01, 0.05))
        integers = rng.integers(0, 16, 32)
        packed += scale.tobytes()
        packed += bytes(int(integers[j]) + 16 * int(integers[j + 16]) for j in range(16))
        values += [(int(integer) - 8) * float(scale) for integer in integers]
    return packed, np.array(values).reshape(shape)


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A file of random weights, and these weights by the file's names."""
    rng = np.random.default_rng(0)
    sizes = (HIDDEN, LAYERS, HEADS, INNER, len(PIECES) + 3, POSITIONS, 2)
    content = b"E5S1" + struct.pack("<I7ifi", 1, *sizes, EPSILON, 32)
    texts = [piece.encode() for piece in PIECES]
    content += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, texts)))
    content += np.cumsum([0, *map(len, texts)]).astype("<u4").tobytes()
    content += np.array([*PIECES.values()], "<f4").tobytes() + b"".join(texts)
    content += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 0xA0, 1, 0x20)
    tensors, weights = {}, {}
    for name, shape in SHAPES.items():
        if len(shape) == 2 and name not in ("emb.pos", "emb.type"):
            data, weights[name] = quantized(rng, shape)
        else:
            weights[name] = rng.normal(1.0 if name.endswith("n.w") else 0.0, 0.1, shape)
            data = weights[name].astype("<f4").tobytes()
        tensors[name] = data
    start = len(content) + 4 + sum(2 + len(name) + 21 for name in tensors)
    content += struct.pack("<i", len(tensors))
    for name, data in tensors.items():
        is_packed = len(data) != 4 * math.prod(SHAPES[name])
        content += struct.pack("<H", len(name)) + name.encode()
        content += struct.pack("<BIQQ", is_packed, math.prod(SHAPES[name]), start, len(data))
        start += len(data)
    path = tmp_path_factory.mktemp("packed") / "weights.bin"
    path.write_bytes(content + b"".join(tensors.values()))
    return path, weights


def normalized(x, weight, bias):
    spread = np.sqrt(((x - x.mean()) ** 2).mean() + EPSILON)
    return (x - x.mean()) / spread * weight + bias


def plain_states(weights, ids):
    """Last states in float64, token by token and head by head."""
    states = [
        normalized(
            weights["emb.word"][number] + weights["emb.pos"][place] + weights["emb.type"][0],
            weights["emb.ln.w"],
            weights["emb.ln.b"],
        )
        for place, number in enumerate(ids)
    ]
    wide = HIDDEN // HEADS
    for layer in range(LAYERS):

        def linear(name, x, layer=layer):
            return weights[f"l{layer}.{name}.w"] @ x + weights[f"l{layer}.{name}.b"]

        def norm(name, x, layer=layer):
            return normalized(x, weights[f"l{layer}.{name}.w"], weights[f"l{layer}.{name}.b"])

        after = []
        for state in states:
            context = np.zeros(HIDDEN)
            for head in range(HEADS):
                own = slice(head * wide, (head + 1) * wide)
                query = linear("q", state)[own]
                scores = [query @ linear("k", key)[own] / math.sqrt(wide) for key in states]
                weight = np.exp(scores) / np.exp(scores).sum()
                context[own] = sum(
                    w * linear("v", key)[own] for w, key in zip(weight, states, strict=True)
                )
            mixed = norm("aln", state + linear("ao", context))
            inner = np.array(
                [x / 2 * (1 + math.erf(x / math.sqrt(2))) for x in linear("fi", mixed)]
            )
            after.append(norm("oln", mixed + linear("fo", inner)))
        states = after
    return np.array(states)


def best_segmentation(word):
    """Pieces of a word with the greatest sum of scores, of all segmentations."""
    if not word:
        return 0.0, []
    found = []
    for end in range(1, len(word) + 1):
        piece = word[:end]
        if piece in PIECES or end == 1:
            score, rest = best_segmentation(word[end:])
            own = PIECES.get(piece, min(PIECES.values()) - 10)
            found.append((score + own, [piece if piece in PIECES else "<unk>", *rest]))
    return max(found)


def loaded(folder):
    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


TEXT = "the  cat satte at thé thexs"


@pytest.mark.parametrize("only_used", [False, True])
def test_pieces_and_states_are_those_of_plain_loops(packed, tmp_path, only_used):
    path, weights = packed
    model = PackedModel(path)
    numbers = used_pieces(model, [TEXT]) if only_used else [*range(len(PIECES))]
    convert(model, tmp_path / "e5", numbers)
    tokenizer, encoder = loaded(tmp_path / "e5")
    expected = ["<s>"]
    for word in TEXT.split():
        expected += best_segmentation("▁" + word)[1]
    expected.append("</s>")
    inputs = tokenizer(TEXT, return_tensors="pt")
    ids = inputs["input_ids"][0].tolist()
    assert tokenizer.convert_ids_to_tokens(ids) == expected
    assert {"▁cat", "<unk>", "▁satte"} & {*expected} == {"<unk>", "▁satte"}
    with torch.no_grad():
        states = encoder(**inputs).last_hidden_state[0].numpy()
    names = [*PIECES]
    plain = plain_states(weights, [names.index(piece) for piece in expected])
    np.testing.assert_allclose(states, plain, atol=2e-5)


def test_pairs_are_separated_as_by_xlm_r(packed, tmp_path):
    convert(PackedModel(packed[0]), tmp_path / "e5", [*range(len(PIECES))])
    tokenizer, _ = loaded(tmp_path / "e5")
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("the", "sat")["input_ids"])
    assert tokens == ["<s>", "▁the", "</s>", "</s>", "▁sat", "</s>"]
    assert (tokenizer.cls_token_id, tokenizer.sep_token_id) == (0, 2)
    assert tokenizer.mask_token == "<mask>"


def test_pieces_that_no_text_has_are_left_out(packed):
    names = [*PIECES]
    kept = [names[number] for number in used_pieces(PackedModel(packed[0]), ["the sat"])]
    assert "▁satte" not in kept
    assert "é" not in kept
    assert {"<s>", "<mask>", "▁the", "▁sat", "s", "龍"} <= {*kept}, "龍 sets the unknown's score"


def test_texts_are_fields_and_sentences_of_treebanks(tmp_path):
    file = tmp_path / "texts"
    file.write_text("one\ttwo\n\n# text = A sentence.\n1\tA\n", encoding="utf-8")
    assert {*read_texts(file)} == {"one", "two", "A sentence.", "1", "A"}


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "texts has no text"), (b"\n\t\n", "texts has no text"), (b"caf\xe9", "not in UTF-8")],
)
def test_texts_that_cannot_be_used_are_named(packed, tmp_path, monkeypatch, content, message):
    (tmp_path / "texts").write_bytes(content)
    folder = tmp_path / "e5"
    arguments = [str(packed[0]), str(folder), "--texts", str(tmp_path / "texts")]
    monkeypatch.setattr(sys, "argv", ["", *arguments])
    with pytest.raises(SystemExit, match=message):
        multilingual_e5.main()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"GGUF" + content[4:], "does not begin with E5S1"),
        (lambda content: content[:200], "cut off or damaged"),
        (lambda content: content[:-40], "cut off or damaged"),
        (lambda content: content.replace(b"<unk>", b"<UNK>"), "does not have .*<unk>"),
    ],
    ids=["another format", "cut in the vocabulary", "cut in the weights", "other pieces"],
)
def test_a_file_that_cannot_be_read_says_why(packed, tmp_path, monkeypatch, change, message):
    file = tmp_path / "weights.bin"
    file.write_bytes(change(packed[0].read_bytes()))
    with pytest.raises(PackedModelError, match=message):
        PackedModel(file)
    monkeypatch.setattr(sys, "argv", ["", str(file), str(tmp_path / "e5")])
    with pytest.raises(SystemExit, match=message):
        multilingual_e5.main()
    assert not (tmp_path / "e5").exists()
