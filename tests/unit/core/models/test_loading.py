"""Checkpoints: refused ones, newly drawn parameters, and that nothing else is random."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import encoders
import numpy as np
import pytest
import scipy.stats
import torch
import transformers
from glue import TASKS
from hub.content import BERT, BERT_COMMIT
from hub.standin import Repository
from safetensors.torch import load_file, save_file
from tiny_models import bert_tokenizer, roberta_tokenizer, save_classifier
from toy_data import save_bert
from transformers import PreTrainedModel

from darksecrets.core.models import checkpoints, fetching, loading, suitability, tokenizing
from darksecrets.core.run.errors import InputError

MRPC, MNLI, RTE = (TASKS[name] for name in ("MRPC", "MNLI", "RTE"))
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "vocab_size": 40,
    "max_position_embeddings": 66,
}


def bert(folder: Path, kind: str = "BertModel") -> PreTrainedModel:
    model = getattr(transformers, kind)(transformers.BertConfig(**SIZES))
    model.save_pretrained(folder)
    bert_tokenizer().save_pretrained(folder)
    return model


def roberta(folder: Path) -> PreTrainedModel:
    model = transformers.RobertaModel(transformers.RobertaConfig(**SIZES))
    model.save_pretrained(folder)
    roberta_tokenizer().save_pretrained(folder)
    return model


def distilbert(folder: Path) -> PreTrainedModel:
    config = transformers.DistilBertConfig(
        dim=16, n_layers=2, n_heads=2, hidden_dim=32, vocab_size=40
    )
    model = transformers.DistilBertModel(config)
    model.save_pretrained(folder)
    bert_tokenizer().save_pretrained(folder)
    return model


def electra(folder: Path) -> PreTrainedModel:
    model = transformers.ElectraModel(transformers.ElectraConfig(**SIZES, embedding_size=8))
    model.save_pretrained(folder)
    bert_tokenizer().save_pretrained(folder)
    return model


FAMILIES = [bert, roberta, distilbert, electra]


def source(folder: Path) -> dict[str, str]:
    return {"source": "folder", "folder": str(folder)}


def state(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)


# --- Loading a classifier ---------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_encoder_is_the_checkpoints_and_only_the_classifier_new(family, tmp_path):
    saved = state(family(tmp_path))
    model, new = loading.load_classifier(tmp_path, MNLI, seed=3)
    encoder = state(getattr(model, model.base_model_prefix))
    assert encoder
    assert all(torch.equal(tensor, saved[name]) for name, tensor in encoder.items())
    others = [n for n, _ in model.named_parameters() if not n.startswith(model.base_model_prefix)]
    assert new == sorted(others)
    assert model.config.num_labels == 3
    assert model.config.id2label == dict(enumerate(MNLI.labels))
    assert not model.training
    assert {p.dtype for p in model.parameters()} == {torch.float32}


@pytest.mark.parametrize("family", FAMILIES)
def test_draw_depends_on_the_seed_only(family, tmp_path):
    family(tmp_path)
    draws = []
    for before in (0, 1):
        torch.manual_seed(before)
        expected = torch.rand(1)
        torch.manual_seed(before)
        draws.append(state(loading.load_classifier(tmp_path, MRPC, seed=3)[0]))
        assert torch.equal(torch.rand(1), expected), "the global generator was touched"
    assert same(*draws)
    assert not same(draws[0], state(loading.load_classifier(tmp_path, MRPC, seed=4)[0]))


def test_classifier_is_drawn_as_in_bert(tmp_path):
    bert(tmp_path)
    weights = [loading.load_classifier(tmp_path, MNLI, s)[0].classifier.weight for s in range(40)]
    draws = torch.cat(weights).detach().double().numpy().ravel()
    assert scipy.stats.kstest(draws, "norm", args=(0, 0.02)).pvalue > 0.01


def test_trained_classifier_is_kept_for_its_task_only(tmp_path):
    bert(tmp_path / "encoder")
    model, _ = loading.load_classifier(tmp_path / "encoder", MRPC, seed=1)
    model.save_pretrained(tmp_path / "tuned")
    again, new = loading.load_classifier(tmp_path / "tuned", MRPC, seed=2)
    assert new == []
    assert same(state(model), state(again))
    with pytest.raises(InputError, match=r"this classifier has the labels .*not_equivalent"):
        loading.load_classifier(tmp_path / "tuned", RTE, seed=1)
    with pytest.raises(InputError, match="cannot be loaded as a 'bert' classifier with 3 outputs"):
        loading.load_classifier(tmp_path / "tuned", MNLI, seed=1)


def rename(folder: Path, change: Callable[[str], str | None]) -> None:
    """Save the weights of a checkpoint under other names, or not at all (None)."""
    file = folder / "model.safetensors"
    weights = {change(name): tensor for name, tensor in load_file(file).items()}
    save_file({k: v for k, v in weights.items() if k}, file, metadata={"format": "pt"})


def test_encoder_part_missing_from_the_checkpoint_is_refused(tmp_path):
    bert(tmp_path)
    rename(tmp_path, lambda n: None if n == "encoder.layer.1.output.dense.weight" else n)
    with pytest.raises(InputError, match=r"lacks 1 parameters .*layer\.1\.output\.dense\.weight"):
        loading.load_classifier(tmp_path, MRPC, seed=1)


def test_layers_that_the_config_leaves_out_are_refused(tmp_path):
    bert(tmp_path)
    settings = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**settings, "num_hidden_layers": 1}))
    with pytest.raises(InputError, match=r"config.json does not describe .*layer\.1"):
        loading.load_classifier(tmp_path, MRPC, seed=1)


def test_missing_pooler_is_drawn_and_reported(tmp_path):
    bert(tmp_path, "BertForMaskedLM")
    _, new = loading.load_classifier(tmp_path, MRPC, seed=1)
    pooler = ["bert.pooler.dense.bias", "bert.pooler.dense.weight"]
    assert new == [*pooler, "classifier.bias", "classifier.weight"]


# --- Getting the pre-trained checkpoint -------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "left_out", "pooler"),
    [
        ("BertForPreTraining", "cls.predictions.bias", True),
        ("BertForMaskedLM", "cls.predictions.bias", False),
        ("BertForSequenceClassification", None, True),
    ],
)
def test_only_the_encoder_is_kept(tmp_path, kind, left_out, pooler):
    saved = state(bert(tmp_path / "source", kind).bert)
    record = fetching.get_pretrained(
        source(tmp_path / "source"), tmp_path / "pretrained", max_length=16
    )
    written = load_file(tmp_path / "pretrained" / "model.safetensors")
    assert same(written, saved)
    assert any("pooler" in name for name in written) == pooler
    assert ("pooler.dense.weight" in record["not_in_checkpoint"]) != pooler
    assert left_out is None or left_out in record["left_out"]
    # The checkpoint's own classifier does not count as a new one.
    new = loading.load_classifier(tmp_path / "pretrained", MRPC, seed=1)[1]
    assert "classifier.weight" in new
    assert tokenizing.load_tokenizer(tmp_path / "pretrained").tokenize("Unbelievable dogs") == [
        *("un", "##believ", "##able", "dog", "##s")
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_families_pass(family, tmp_path):
    family(tmp_path / "source")
    fetching.check(source(tmp_path / "source"), 16)
    fetching.get_pretrained(source(tmp_path / "source"), tmp_path / "pretrained", max_length=16)
    fetching.check(source(tmp_path / "pretrained"), 16)
    one, other = (
        state(loading.load_classifier(tmp_path / name, MRPC, seed=1)[0])
        for name in ("source", "pretrained")
    )
    assert same(one, other)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_trained_weights_in_half_precision_are_accepted_and_kept(tmp_path, dtype):
    """Their own maps do not sum to 1 within rounding of float32; those that jobs see do."""
    shutil.copytree(checkpoints.SHIPPED, tmp_path / "source")
    model = transformers.AutoModel.from_pretrained(tmp_path / "source")
    model.to(dtype).save_pretrained(tmp_path / "source")
    fetching.get_pretrained(source(tmp_path / "source"), tmp_path / "pretrained", max_length=128)
    written = load_file(tmp_path / "pretrained" / "model.safetensors")
    assert {tensor.dtype for tensor in written.values()} == {dtype}


def test_half_precision_is_kept(tmp_path):
    bert(tmp_path / "source").half().save_pretrained(tmp_path / "source")
    fetching.get_pretrained(source(tmp_path / "source"), tmp_path / "pretrained", max_length=16)
    written = load_file(tmp_path / "pretrained" / "model.safetensors")
    assert {tensor.dtype for tensor in written.values()} == {torch.float16}


def test_failure_leaves_what_was_there(tmp_path, monkeypatch):
    bert(tmp_path / "source")
    fetching.get_pretrained(source(tmp_path / "source"), tmp_path / "pretrained", max_length=16)
    before = (tmp_path / "pretrained" / "model.safetensors").read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(transformers.BertTokenizer, "save_pretrained", full)
    with pytest.raises(OSError, match="No space"):
        fetching.get_pretrained(source(tmp_path / "source"), tmp_path / "pretrained", max_length=16)
    assert (tmp_path / "pretrained" / "model.safetensors").read_bytes() == before
    assert {p.name for p in tmp_path.iterdir()} == {"source", "pretrained"}


HUB_CODE = """
import time
time.sleep = lambda seconds: None
from pathlib import Path
from darksecrets.core.models import checkpoints, fetching, loading, suitability, tokenizing
from darksecrets.core.run import errors
source = {{"source": "hub", "id": {id!r}, "revision": {revision!r}}}
try:
    checkpoints.check_hub(source)
    print(fetching.get_pretrained(source, Path({output!r}), max_length=16)["revision"])
except errors.InputError as error:
    print("InputError:", error)
"""


def test_hub_and_then_offline(hub, client, bert_repository, tmp_path):
    hub.repositories.append(bert_repository)
    outputs = [tmp_path / "online", tmp_path / "offline"]
    for output, offline in zip(outputs, "01", strict=True):
        code = HUB_CODE.format(id=BERT, revision="main", output=str(output))
        assert client.run(code, HF_HUB_OFFLINE=offline).splitlines()[-1] == BERT_COMMIT
    assert not any(name.endswith(".bin") for name in hub.downloads())
    first, second = (load_file(output / "model.safetensors") for output in outputs)
    assert same(first, second)


def test_hub_without_a_fast_tokenizer_or_with_pickled_weights_only(
    hub, client, bert_repository, tmp_path
):
    """What a folder may hold, a repository may hold; and both get the same advice."""
    files = dict(bert_repository.files)
    words = list(json.loads(files.pop("tokenizer.json"))["model"]["vocab"])
    del files["tokenizer_config.json"]
    plain = {**files, "vocab.txt": "\n".join(words).encode()}
    pickled = {name: content for name, content in plain.items() if "safetensors" not in name}
    hub.repositories += [
        Repository("models", "example/vocabulary", "0" * 40, plain),
        Repository("models", "example/without", "1" * 40, files),
        Repository("models", "example/pickled", "2" * 40, pickled),
    ]
    said = {}
    for name in ("vocabulary", "without", "pickled"):
        where = {"id": f"example/{name}", "revision": "main", "output": str(tmp_path / name)}
        said[name] = client.run(HUB_CODE.format(**where)).splitlines()[-1]
    assert said["vocabulary"] == "0" * 40
    assert tokenizing.load_tokenizer(tmp_path / "vocabulary").tokenize("ab") == ["a", "##b"]
    assert "has no file tokenizer.json or vocab.txt or" in said["without"]
    assert "convert them to safetensors" in said["pickled"]


# --- What is refused before any job -----------------------------------------------------------


def truncated(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])


def set_config(**settings: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / "config.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))

    return change


def test_a_model_without_a_classifier_of_its_kind_is_refused(tmp_path):
    """`tests/inputs/models.py` has other folders that cannot be used."""
    save_bert(tmp_path)
    set_config(model_type="blip_2_qformer")(tmp_path)
    with pytest.raises(InputError, match="cannot load as AutoModelForSequenceClassif"):
        fetching.check(source(tmp_path), 16)


def test_damaged_weights_of_a_run_are_named_by_the_job_that_reads_them(tmp_path):
    save_bert(tmp_path)
    truncated(tmp_path)
    message = r"model\.safetensors: these \d+ bytes .* delete its folder and run the same command"
    with pytest.raises(InputError, match=message):
        loading.load_encoder(tmp_path)


def test_models_without_square_maps_are_refused(tmp_path):
    """Longformer returns attention only in a window around each token."""
    config = transformers.LongformerConfig(**SIZES, attention_window=4, pad_token_id=0)
    transformers.LongformerModel(config).save_pretrained(tmp_path)
    bert_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(InputError, match="no usable attention maps"):
        fetching.get_pretrained(source(tmp_path), tmp_path / "pretrained", max_length=16)
    assert not (tmp_path / "pretrained").exists()


def test_a_type_whose_maps_are_no_shares_is_called_so(tmp_path):
    """SqueezeBERT returns scores before the softmax: its weights are not damaged."""
    config = transformers.SqueezeBertConfig(
        **SIZES,
        embedding_size=16,
        **dict.fromkeys(
            (
                "q_groups",
                "k_groups",
                "v_groups",
                "post_attention_groups",
                "intermediate_groups",
                "output_groups",
            ),
            1,
        ),
    )
    transformers.SqueezeBertModel(config).save_pretrained(tmp_path)
    bert_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"'squeezebert' .* the type is not supported"):
        fetching.get_pretrained(source(tmp_path), tmp_path / "pretrained", max_length=16)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_damaged_weights_are_refused_before_anything_is_written(tmp_path, number):
    """In a weight that every text meets; `transformers` itself loads them without a word."""
    model = loading.load_encoder(save_bert(tmp_path))
    with torch.no_grad():
        model.encoder.layer[0].attention.self.query.weight[0, 0] = number
    model.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="rows that do not sum to 1, as damaged weights give"):
        fetching.get_pretrained(source(tmp_path), tmp_path / "pretrained", max_length=16)
    assert not (tmp_path / "pretrained").exists()


def test_a_damaged_head_of_masked_words_is_refused_before_anything_is_written(tmp_path):
    model = loading.load_masked(checkpoints.SHIPPED)
    with torch.no_grad():
        model.get_output_embeddings().bias[3] = float("nan")
    folder = tmp_path / "model"
    model.save_pretrained(folder)
    tokenizing.load_tokenizer(checkpoints.SHIPPED).save_pretrained(folder)
    with pytest.raises(InputError, match="bias have a value that is no finite number"):
        fetching.get_masked(source(folder), tmp_path / "masked", max_length=16)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("number", [0.0, 0.1])
def test_weights_that_are_all_the_same_are_refused(tmp_path, number):
    """Every head of such a file attends to everything alike: a copy that lost its content."""
    model = loading.load_encoder(save_bert(tmp_path))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(number)
    model.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="the same attention everywhere, as weights of zeros give"):
        fetching.get_pretrained(source(tmp_path), tmp_path / "pretrained", max_length=16)
    assert not (tmp_path / "pretrained").exists()


def test_a_model_whose_tokens_do_not_look_ahead_is_refused(tmp_path):
    """Called an encoder by its configuration, but masked like a decoder."""
    save_bert(tmp_path)
    model = loading.load_encoder(tmp_path)

    def causal(_: object, arguments: object, named: dict[str, torch.Tensor]) -> object:
        real = named["attention_mask"]
        length = real.shape[1]
        both = real[:, None, None, :] * torch.ones(length, length).tril()
        return arguments, {**named, "attention_mask": (1 - both) * -1e9}

    with (
        model.register_forward_pre_hook(causal, with_kwargs=True),
        pytest.raises(InputError, match="is a decoder"),
    ):
        suitability.check_maps(model, tmp_path, 16)


def test_check_is_quick_on_large_models_and_leaves_random_numbers_alone(tmp_path):
    bert(tmp_path)
    set_config(num_hidden_layers=10_000, vocab_size=10**9)(tmp_path)
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    suitability.check_configuration(tmp_path, 16)
    assert torch.equal(torch.rand(1), expected)


def test_tokenizer_of_another_model(tmp_path):
    model = transformers.BertModel(transformers.BertConfig(**{**SIZES, "vocab_size": 16}))
    model.save_pretrained(tmp_path / "source")
    bert_tokenizer().save_pretrained(tmp_path / "source")
    with pytest.raises(InputError, match=r"tokenizer has 17 word pieces, the model .* for 16"):
        fetching.get_pretrained(source(tmp_path / "source"), tmp_path / "pretrained", max_length=16)
    assert not (tmp_path / "pretrained").exists()


def test_roberta_counts_positions_from_the_tokenizers_padding(tmp_path):
    folder = encoders.FAMILIES["RoBERTa"].save(tmp_path)
    fetching.check_fit(folder, 64)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"pad_token_id": 0}))
    with pytest.raises(InputError, match=r"padding has the id 1 in the tokenizer, but 0"):
        fetching.check_fit(folder, 64)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("return_dict", False),
        ("output_attentions", True),
        ("output_hidden_states", True),
        ("torchscript", True),
        ("chunk_size_feed_forward", 7),
        ("attn_implementation", "flash_attention_2"),
    ],
)
def test_settings_of_a_checkpoint_do_not_change_what_models_return(setting, value, tmp_path):
    folder = save_classifier(tmp_path / "model", "bert", TASKS["RTE"])
    expected = loading.load_classifier(folder, TASKS["RTE"], 1)[0].state_dict()
    file = folder / "config.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, setting: value}))
    suitability.check_configuration(folder, max_length=16)
    model, _ = loading.load_classifier(folder, TASKS["RTE"], 1)
    found = model(input_ids=torch.tensor([[2, 5, 3]]))
    assert list(found) == ["logits"]
    assert same(expected, model.state_dict())
    fetching.get_pretrained(source(folder), tmp_path / "pretrained", max_length=16)
    assert list(loading.load_encoder(tmp_path / "pretrained")(torch.tensor([[2, 5, 3]]))) == [
        "last_hidden_state",
        "pooler_output",
    ]


# --- From a normal distribution ---------------------------------------------------------------


def test_all_weights_are_drawn_from_the_normal_distribution(tmp_path):
    bert(tmp_path)
    model, _ = loading.load_classifier(tmp_path, MRPC, seed=1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(7.0)
    loading.draw_from_normal(model, seed=5, std=0.03)
    matrices = {}
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert torch.all(parameter == 0), name
        elif "LayerNorm" in name:
            assert torch.all(parameter == 1), name
        else:
            matrices[name] = parameter.detach().double().numpy().ravel()
    assert "classifier.weight" in matrices
    assert "bert.embeddings.word_embeddings.weight" in matrices
    draws = np.concatenate(list(matrices.values()))
    assert scipy.stats.kstest(draws, "norm", args=(0, 0.03)).pvalue > 0.01
    # Neighbours, and equal places of different matrices, are independent.
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4 / np.sqrt(len(draws))
    equal_shapes = [m for n, m in matrices.items() if n.endswith("query.weight")]
    assert not np.array_equal(*equal_shapes)


def test_normal_draw_depends_on_the_seed_only(tmp_path):
    bert(tmp_path / "one")
    bert(tmp_path / "two")
    draws = []
    for name, seed in (("one", 5), ("two", 5), ("one", 6)):
        model, _ = loading.load_classifier(tmp_path / name, MRPC, seed=len(draws))
        loading.draw_from_normal(model, seed, std=0.02)
        draws.append(state(model))
    assert same(draws[0], draws[1])
    assert not same(draws[0], draws[2])
