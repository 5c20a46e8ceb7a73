"""Observe the attention of an encoder and change its heads; `models.hooks` is what others import.

One function is registered with the attention interface of `transformers`. While a context of this
module is open, every layer of the encoder computes its attention through it. Layers are identified
by the order of their calls in a forward pass, not by module names, so encoders whose layers share
their weights (ALBERT) work, too. A layer that gradient checkpointing computes again is known by its
module. Layers and heads count from 1.
"""

from __future__ import annotations

import contextlib
import copy
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from transformers import AttentionInterface
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from darksecrets.core.models.quietly import quiet
from darksecrets.core.models.selectors import Shape
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_NAME = "darksecrets"
# Attribute of an encoder from its first check on: why its attention cannot be reached; empty if it
# can.
_PROBLEM = "_darksecrets_problem"
# The same as the latter: why the projections cannot be observed.
_NO_PROJECTIONS = "_darksecrets_no_projections"
# Arguments by which some models change the scores, which `_attention` does not support.
_UNSUPPORTED = ("softcap", "s_aux", "position_bias")
# Outputs through the registered function may differ from the model's own by rounding.
_TOLERANCE = 1e-4
# Data types with less precision than that.
_HALF = (torch.float16, torch.bfloat16)
# Keys of a configuration for the dropout of attention weights.
_DROPOUTS = ("attention_probs_dropout_prob", "attention_dropout")
# Tokens of the longest trial text: local attention that reaches further is not seen in it.
_LONGEST_TRIAL = 512


class _Stopped(Exception):  # noqa: N818 - no error: what was asked of a forward pass is there
    """Ends a forward pass, see `collect_maps`."""


@dataclass(frozen=True)
class Call:
    """The attention of one layer in one forward pass.

    Attributes:
        layer: Number of the layer, from 1.
        query: [example, head, query, size].
        key: [example, head, key, size].
        value: [example, head, key, size].
        mask: [example, 1, query, key], 0 where a query may attend to a key and very negative
            elsewhere; None if all queries may attend to all keys. A query at padding may have no
            key at all.
    """

    layer: int
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None

    @property
    def real(self) -> torch.Tensor | None:
        """[example, 1, query, key], whether a query may attend to a key; None if all may."""
        return None if self.mask is None else self.mask == 0


class Intervention:
    """A change to an encoder's heads or MLPs; subclasses override what they change.

    For example, a gate on the output of every head:

        class Gate(Intervention):
            def __init__(self, gates):  # [layer, head]
                self.gates = gates

            def outputs(self, outputs, call):
                return outputs * self.gates[call.layer - 1, :, None, None]
    """

    def weights(self, weights: torch.Tensor, call: Call) -> torch.Tensor:  # noqa: ARG002
        """Return the attention weights to use, [example, head, query, key], after the softmax."""
        return weights

    def outputs(self, outputs: torch.Tensor, call: Call) -> torch.Tensor:  # noqa: ARG002
        """Return the heads' outputs to use, [example, head, query, size]."""
        return outputs

    def mlp(self, output: torch.Tensor, layer: int) -> torch.Tensor:  # noqa: ARG002
        """Return what the MLP of a layer, from 1, is to add, [example, token, size]."""
        return output


class Layers(Mapping[int, torch.Tensor]):
    """Tensors of one forward pass, by layer number.

    Args:
        name: What the tensors are, for messages.
        first: Number of the first layer.
    """

    def __init__(self, name: str, first: int = 1) -> None:
        self._name, self._first = name, first
        self._tensors: list[torch.Tensor] = []

    def __getitem__(self, layer: int) -> torch.Tensor:
        if not self._tensors:
            raise InputError(
                f"There are no {self._name} of a forward pass: request them with "
                f"`observe(model, {self._name}=True)` and run the model in that context."
            )
        last = self._first + len(self._tensors) - 1
        if not self._first <= layer <= last:
            raise InputError(f"There is no layer {layer}: they count from {self._first} to {last}.")
        return self._tensors[layer - self._first]

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._first, self._first + len(self._tensors)))

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        if not self._tensors:
            return f"{self._name}: none"
        last = self._first + len(self._tensors) - 1
        return f"{self._name}: layers {self._first} to {last}, {[*self._tensors[0].shape]} each"

    def head(self, layer: int, head: int) -> torch.Tensor:
        """One head of one layer, both from 1: [example, ...]."""
        layer_maps = self[layer]
        if not 1 <= head <= layer_maps.shape[1]:
            raise InputError(
                f"There is no head {head}: they count from 1 to {layer_maps.shape[1]}."
            )
        return layer_maps[:, head - 1]

    def stack(self) -> torch.Tensor:
        """All layers, [example, layer, ...]."""
        return torch.stack([self[layer] for layer in self], dim=1)


@dataclass(frozen=True)
class Projection:
    """The linear map from the heads' outputs of a layer, concatenated, to its hidden states.

    The contribution of a token to a head's output, in the space of the hidden states, is its value
    vector times the head's weight, times its attention weight. The contributions of all heads and
    tokens and the bias add up to the output.

    Attributes:
        weight: [head, size, hidden].
        bias: [hidden]; 0 if there is none.
        output: [example, token, hidden] what the layer made of the heads' outputs.
    """

    weight: torch.Tensor
    bias: torch.Tensor
    output: torch.Tensor


@dataclass(repr=False)
class Observation:
    """What was observed in the last forward pass; earlier ones are discarded.

    Attributes:
        maps: By layer, attention weights [example, head, query, key], after interventions and, in
            training, before dropout.
        reach: By layer, whether a query may attend to a key, [example or 1, 1, query, key].
        values: By layer, value vectors [example, head, key, size].
        outputs: By layer, outputs of the heads [example, head, query, size], before they are
            concatenated and projected.
        hidden: By layer, hidden states [example, token, size] after the layer; layer 0 is the
            embeddings.
        projections: By layer, how the outputs of the heads become hidden states.
    """

    maps: Layers = field(default_factory=lambda: Layers("maps"))
    reach: Layers = field(default_factory=lambda: Layers("reach"))
    values: Layers = field(default_factory=lambda: Layers("values"))
    outputs: Layers = field(default_factory=lambda: Layers("outputs"))
    hidden: Layers = field(default_factory=lambda: Layers("hidden", first=0))
    projections: dict[int, Projection] = field(default_factory=dict)

    def __repr__(self) -> str:
        kinds = (self.maps, self.reach, self.values, self.outputs, self.hidden)
        seen = "; ".join(repr(layers) for layers in kinds if layers)
        return f"Observation({seen or 'no forward pass yet'})"

    def clear(self) -> None:
        """Discard all observations."""
        for layers in (self.maps, self.reach, self.values, self.outputs, self.hidden):
            layers._tensors = []
        self.projections.clear()


@dataclass
class Session:
    """Interventions and observers of one encoder while contexts are open.

    Attributes:
        layers: Number of layers of the encoder.
        interventions: In order of application; those of the innermost context come last.
        observers: For each, what it keeps and where.
        mlps: Whether the outputs of the MLPs go through it.
        modules: The attention module of every layer called in the current forward pass, in order.
        layer: The layer called last, from 1.
        returned: The heads' outputs that it returned, [example, query, head, size].
        stops: Whether a forward pass ends with the attention of the last layer, by `_Stopped`.
    """

    layers: int
    interventions: list[Intervention] = field(default_factory=list)
    observers: list[tuple[frozenset[str], Observation]] = field(default_factory=list)
    mlps: bool = False
    modules: list[torch.nn.Module] = field(default_factory=list)
    layer: int = 0
    returned: torch.Tensor | None = None
    stops: bool = False

    def begin(self) -> None:
        """Start a forward pass."""
        self.modules, self.layer, self.returned = [], 0, None
        for _, observation in self.observers:
            observation.clear()

    def enter(self, module: torch.nn.Module) -> bool:
        """Begin the attention of a layer, and tell whether it is computed for the first time.

        Gradient checkpointing computes every layer again in the backward pass.

        Raises:
            InputError: Layers that share their module are computed again: which, is not known.
        """
        if len(self.modules) < self.layers:
            self.modules.append(module)
            self.layer = len(self.modules)
            return True
        layers = [number for number, known in enumerate(self.modules, start=1) if known is module]
        if len(layers) != 1:
            raise InputError(
                f"{type(module).__name__} is called more often than the model has layers "
                f"({self.layers}), and serves {len(layers)} of them: with gradient checkpointing, "
                "they cannot be told apart. Call model.gradient_checkpointing_disable() first."
            )
        self.layer = layers[0]
        return False

    def observe(self, call: Call, weights: torch.Tensor, outputs: torch.Tensor) -> None:
        """Store what the observers requested."""
        seen = {"maps": weights, "values": call.value, "outputs": outputs}
        for kinds, observation in self.observers:
            for kind in kinds & seen.keys():
                getattr(observation, kind)._tensors.append(seen[kind])
            if "reach" in kinds:
                everywhere = weights.new_ones((1, 1, *weights.shape[2:]), dtype=torch.bool)
                observation.reach._tensors.append(everywhere if call.real is None else call.real)

    def keeps(self, kind: str) -> bool:
        """Whether an observer keeps something of this kind."""
        return any(kind in kinds for kinds, _ in self.observers)

    def change_mlp(self, output: torch.Tensor) -> torch.Tensor:
        """What the MLP of the current layer is to add."""
        for intervention in self.interventions:
            output = intervention.mlp(output, self.layer)
        return output

    def project(self, linear: torch.nn.Linear, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ANN401 - of any model
        """Store a linear map, if it is the one that is given the heads' outputs of the layer.

        It is known by its input: the memory that the registered function returned.
        """
        heads = self.returned
        if heads is None or not inputs or inputs[0].data_ptr() != heads.data_ptr():
            return
        self.returned = None
        if inputs[0].shape[-1] != heads.shape[2] * heads.shape[3]:
            return
        weight = linear.weight.T.view(*heads.shape[2:], -1)
        bias = weight.new_zeros(weight.shape[-1]) if linear.bias is None else linear.bias
        for kinds, observation in self.observers:
            if "projections" in kinds:
                observation.projections[self.layer] = Projection(weight, bias, output)


# The open session of every module of an encoder. Not an attribute of the modules: a copy of a model
# that is made while a context is open is intact.
_SESSIONS: MutableMapping[torch.nn.Module, Session] = weakref.WeakKeyDictionary()


@contextlib.contextmanager
def intervene_on_heads(model: PreTrainedModel, *interventions: Intervention) -> Iterator[None]:
    """Change the heads of a model within the context, but not its MLPs; see `hooks.intervene`."""
    require_reachable(model)
    with opened(model) as session:
        session.interventions.extend(interventions)
        try:
            yield
        finally:
            del session.interventions[len(session.interventions) - len(interventions) :]


@contextlib.contextmanager
def observe(
    model: PreTrainedModel,
    *,
    maps: bool = False,
    reach: bool = False,
    values: bool = False,
    outputs: bool = False,
    hidden: bool = False,
    projections: bool = False,
) -> Iterator[Observation]:
    """Observe a model's attention within the context.

    Tensors are the model's own, on its device and in its precision, padding included; gradients
    flow through them. They are taken after interventions, whichever context was opened first. Maps
    of a model in training mode are the weights before dropout, whose rows sum to 1.

    Args:
        model: A model of `transformers`, with or without a classifier. If it does not use the
            attention interface (DeBERTa), only ``maps`` and ``hidden`` can be observed.
        maps: Whether to keep attention weights.
        reach: Whether to keep which keys a query may attend to.
        values: Whether to keep value vectors.
        outputs: Whether to keep the outputs of the heads.
        hidden: Whether to keep hidden states.
        projections: Whether to keep how the outputs of the heads become hidden states. Whether
            they are seen depends on the model, see `require_projections`.

    Yields:
        What was observed in the last forward pass.

    Raises:
        InputError: The model's attention cannot be reached; or it can only be reported, and is not
            what it was before dropout.
    """
    seen = Observation()
    wanted = {"maps": maps, "reach": reach, "values": values, "outputs": outputs}
    wanted |= {"projections": projections}
    kinds = frozenset(name for name, asked in wanted.items() if asked)
    reported = {"hidden"} if hidden else set()
    if kinds == {"maps"} and _problem(model):
        kinds, reported = frozenset(), reported | {"maps"}
    with contextlib.ExitStack() as contexts:
        if kinds:
            require_reachable(model)
            session = contexts.enter_context(opened(model))
            session.observers.append((kinds, seen))
            contexts.callback(session.observers.pop)
        if projections:
            for module in model.base_model.modules():
                if isinstance(module, torch.nn.Linear):
                    contexts.enter_context(module.register_forward_hook(_project))
        if reported:
            contexts.enter_context(_reported(model, reported, seen))
        yield seen


def collect_maps(model: PreTrainedModel, inputs: Mapping[str, torch.Tensor]) -> Layers:
    """Maps of a forward pass, by layer, as `observe` keeps them.

    What the model would compute once the last layer's map is there is left out: that layer's MLP,
    and a classifier.

    Args:
        model: See `observe`.
        inputs: Arguments of the model.

    Raises:
        InputError: See `observe`.
    """
    with observe(model, maps=True) as seen:
        session = _SESSIONS.get(model.base_model) or Session(0)  # a model that only reports maps
        session.stops = True
        try:
            with contextlib.suppress(_Stopped):
                model(**inputs)
        finally:
            session.stops = False
    return seen.maps


@contextlib.contextmanager
def evaluating(model: PreTrainedModel) -> Iterator[None]:
    """Have a model in evaluation mode, without gradients; then in the mode that it was in."""
    training = model.training
    model.train(False)
    try:
        with torch.inference_mode():
            yield
    finally:
        model.train(training)


def shape_of(model: PreTrainedModel) -> Shape:
    """Number of layers and heads of a model."""
    config = model.config
    return Shape(config.num_hidden_layers, config.num_attention_heads)


def is_reachable(model: PreTrainedModel) -> bool:
    """Whether `require_reachable` finds nothing wrong."""
    return not _problem(model)


def require_reachable(model: PreTrainedModel) -> None:
    """Check that every layer's attention goes through the registered function, unchanged.

    The model runs on two texts, once as it is and once through the function. The function must be
    called once per layer of the configuration, and the outputs must be the same. The result is
    cached on the model.

    Raises:
        InputError: Says what was found instead.
    """
    if problem := _problem(model):
        raise InputError(problem)


def require_projections(model: PreTrainedModel) -> None:
    """Check that what every layer makes of its value vectors can be observed.

    On two texts, the outputs of the heads, times their projection, must add up to the output that
    the layer computed. The result is cached on the model.

    Raises:
        InputError: Says what was found instead; or the model's attention cannot be reached.
    """
    require_reachable(model)
    encoder = model.base_model
    if _NO_PROJECTIONS not in encoder.__dict__:
        encoder.__dict__[_NO_PROJECTIONS] = _find_no_projections(model)
    if problem := encoder.__dict__[_NO_PROJECTIONS]:
        raise InputError(problem)


def _find_no_projections(model: PreTrainedModel) -> str:
    inputs = trial_inputs(model, 6)
    with evaluating(model), observe(model, outputs=True, projections=True) as seen:
        model(**inputs)
    layers, found = model.config.num_hidden_layers, len(seen.projections)
    expected = "every layer to map its heads' outputs by one linear module"
    if found != layers:
        return _unobserved(model, f"such a module in {found} of {layers} layers", expected)
    for layer, projection in seen.projections.items():
        with torch.inference_mode():
            made = torch.einsum("bhqd,hdo->bqo", seen.outputs[layer], projection.weight)
            made = made + projection.bias
        if not torch.allclose(made, projection.output, rtol=_TOLERANCE, atol=_TOLERANCE):
            difference = (made - projection.output).abs().max().item()
            return _unobserved(
                model, f"a difference of {difference:.2g} in layer {layer}", expected
            )
    return ""


def _unobserved(model: PreTrainedModel, found: str, expected: str) -> str:
    return (
        f"{type(model).__name__}: the values of this model cannot be observed: {found}. It "
        f"needs {expected}. Use a checkpoint of BERT, RoBERTa, ALBERT, ModernBERT or another "
        "encoder."
    )


@contextlib.contextmanager
def opened(model: PreTrainedModel) -> Iterator[Session]:
    """The open session of a model's encoder, or a new one that its attention goes through."""
    encoder = model.base_model
    if session := _SESSIONS.get(encoder):
        yield session
        return
    session = Session(model.config.num_hidden_layers)
    modules = list(encoder.modules())
    for module in modules:
        _SESSIONS[module] = session
    try:
        with encoder.register_forward_pre_hook(_begin), _through(model, _NAME):
            yield session
    finally:
        for module in modules:
            del _SESSIONS[module]


def change_mlp(module: torch.nn.Module, _: object, output: torch.Tensor) -> torch.Tensor:
    """A forward hook of MLPs: what the MLP is to add, see `Session.change_mlp`."""
    session = _SESSIONS.get(module)
    return output if session is None else session.change_mlp(output)


def _begin(encoder: torch.nn.Module, _: object) -> None:
    """A forward hook of encoders: see `Session.begin`."""
    if session := _SESSIONS.get(encoder):
        session.begin()


def _project(linear: torch.nn.Linear, inputs: tuple[Any, ...], output: Any) -> None:  # noqa: ANN401
    """A forward hook of linear maps: see `Session.project`."""
    if session := _SESSIONS.get(linear):
        session.project(linear, inputs, output)


@contextlib.contextmanager
def _reported(model: PreTrainedModel, kinds: set[str], seen: Observation) -> Iterator[None]:
    """Store what the model itself returns in its outputs."""
    names = {"maps": "attentions", "hidden": "hidden_states"}
    encoder = model.base_model

    def ask(_: object, arguments: Any, named: dict[str, Any]) -> Any:  # noqa: ANN401
        dropout = max(getattr(encoder.config, name, 0.0) or 0.0 for name in _DROPOUTS)
        if "maps" in kinds and encoder.training and dropout:
            raise InputError(
                f"{type(model).__name__} is in training mode and reports its maps after dropout "
                f"({dropout:g}), whose rows do not sum to 1. Call model.eval() first."
            )
        asked = {f"output_{names[kind]}": True for kind in kinds}
        return arguments, {**named, **asked, "return_dict": True}

    def keep(_: object, __: object, output: Any) -> None:  # noqa: ANN401 - a ModelOutput
        for kind in kinds:
            found = output.get(names[kind]) or ()
            getattr(seen, kind)._tensors = [tensor for tensor in found if tensor is not None]

    with (
        encoder.register_forward_pre_hook(ask, with_kwargs=True),
        encoder.register_forward_hook(keep),
        _through(model, "eager") if "maps" in kinds else contextlib.nullcontext(),
    ):
        yield


@contextlib.contextmanager
def _through(model: PreTrainedModel, implementation: str) -> Iterator[None]:
    """Let a model compute its attention by an implementation; fused ones report no maps."""
    before = model.config._attn_implementation
    if before == implementation:  # a model that has this one only cannot be asked to change
        yield
        return
    model.set_attn_implementation(implementation)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def _problem(model: PreTrainedModel) -> str:
    """Why a model's attention cannot be reached; empty if it can."""
    encoder = model.base_model
    if _PROBLEM not in encoder.__dict__:
        encoder.__dict__[_PROBLEM] = _find_problem(model)
    return encoder.__dict__[_PROBLEM]


def _find_problem(model: PreTrainedModel) -> str:
    if model.dtype in _HALF:  # whose rounding would hide a difference: try a copy in float32
        model = copy.deepcopy(model)
        torch.nn.Module.float(model)
    inputs = trial_inputs(model, _trial_length(model))
    try:
        with evaluating(model), quiet():
            expected = model(**inputs)[0]
            with opened(model) as session:
                found = model(**inputs)[0]
    except InputError as error:
        return str(error)
    name = type(model).__name__
    if session.layer != session.layers:
        calls = f"{session.layer} calls of the attention interface for {session.layers} layers"
        return _unreachable(name, calls)
    if found.dim() == 3:  # an encoder without a classifier: ignore outputs at padding
        real = inputs["attention_mask"].bool()
        expected, found = expected[real], found[real]
    if not torch.allclose(expected, found, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True):
        difference = (expected - found).abs().max().item()
        return _unreachable(
            name, f"outputs that differ by {difference:.2g} from those of the intact model"
        )
    return ""


def _unreachable(name: str, found: str) -> str:
    return (
        f"{name}: the heads of this model cannot be disabled or changed; only its maps can be "
        "observed. To disable heads, use a checkpoint of BERT, RoBERTa, ALBERT, ModernBERT or "
        f"another encoder. Reason: its attention cannot be reached: {found}, but every "
        "layer's softmaxed attention must go through transformers' AttentionInterface."
    )


def trial_inputs(model: PreTrainedModel, tokens: int) -> dict[str, torch.Tensor]:
    """Inputs of two texts, ``tokens`` and 4 tokens long; the second is padded."""
    padding = getattr(model.config, "pad_token_id", None)
    word = next(number for number in range(3) if number != padding)
    ids = torch.full((2, tokens), word)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    ids[1, 4:] = word if padding is None else padding
    return {"input_ids": ids.to(model.device), "attention_mask": mask.to(model.device)}


def _trial_length(model: PreTrainedModel) -> int:
    """Tokens of a trial text: beyond the reach of local attention, as far as there are positions.

    `transformers` makes all masks of local attention from ``sliding_window``.
    """
    window = getattr(model.config, "sliding_window", None) or 0
    return min(6 + window, _LONGEST_TRIAL)


def _attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **others: Any,  # noqa: ANN401 - further arguments of the model
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention of one layer, with the interventions and observers of the model's session.

    A module without a session belongs to a copy that was made while a context was open: it is
    computed as it is.

    Args:
        module: The calling attention module.
        query: [example, head, query, size].
        key: [example, head, key, size]; fewer heads in grouped-query attention.
        value: As ``key``.
        attention_mask: See `Call`.
        scaling: Factor of the scores; 1/√size if None.
        dropout: Probability that a weight is dropped in training.
        others: Further arguments of the model.

    Returns:
        The heads' outputs, [example, query, head, size], and the maps, [example, head, query, key].
    """
    if unsupported := [name for name in _UNSUPPORTED if others.get(name) is not None]:
        raise InputError(_unreachable(type(module).__name__, f"attention with {unsupported[0]}"))
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = (t.repeat_interleave(groups, dim=1) for t in (key, value))
    scores = query @ key.transpose(2, 3) * scaling
    if attention_mask is not None:
        scores = scores + attention_mask
    precise = scores.float() if scores.dtype in _HALF else scores  # as transformers computes it
    softmaxed = torch.softmax(precise, dim=-1).to(scores.dtype)
    weights = torch.nn.functional.dropout(softmaxed, dropout, module.training)
    session = _SESSIONS.get(module)
    if session is None:
        return (weights @ value).transpose(1, 2).contiguous(), weights
    is_first = session.enter(module)
    call = Call(session.layer, query, key, value, attention_mask)
    for intervention in session.interventions:
        weights = intervention.weights(weights, call)
    outputs = weights @ value
    for intervention in session.interventions:
        outputs = intervention.outputs(outputs, call)
    if is_first:
        seen = weights
        if dropout and module.training and session.keeps("maps"):
            seen = softmaxed
            for intervention in session.interventions:
                seen = intervention.weights(seen, call)
        session.observe(call, seen, outputs)
        if session.stops and session.layer == session.layers:
            raise _Stopped
    session.returned = outputs.transpose(1, 2).contiguous()
    return session.returned, weights


AttentionInterface.register(_NAME, _attention)
# Otherwise transformers passes no mask to the function, and padding would get weight.
AttentionMaskInterface.register(_NAME, eager_mask)
