"""Every file of a run that others may rely on, and the named targets."""

from __future__ import annotations

PATHS: tuple[tuple[str, str], ...] = (
    ("config.yaml", "the configuration with all defaults"),
    ("origin.json", "where data and model came from"),
    (
        "left_out.txt, norms_left_out.txt, landscape_left_out.txt",
        "why the sweep over heads, or norms, second opinions and faithfulness, or restored layers, "
        "are left out; there only if they are",
    ),
    (
        "data/<task>/",
        "a `datasets.DatasetDict` on disk: splits `train` and `validation`, columns `idx`, "
        "`sentence1`, `sentence2` (of pairs), `label`. Beside it `summary.json`, with sizes, "
        "labels and duplicates; with the built-in corpus also `annotation.jsonl`, the gold "
        "annotation of every validation example",
    ),
    ("samples/<task>.csv", "[table](#samplescsv): the examples that attention experiments use"),
    (
        "models/pretrained/",
        "Hugging Face folder: `config.json`, `model.safetensors`, tokenizer",
    ),
    (
        "models/<task>/<state>/seed-<n>/",
        "the same after fine-tuning; `<state>` is `finetuned` or `finetuned-from-normal`. The "
        "state `pretrained` needs no folder of its own: it is `models/pretrained` with a "
        "classifier drawn from the seed",
    ),
    (
        "scores/<task>/<state>/seed-<n>.csv, scores/<task>/baselines.csv",
        "parts of `table1.csv` and `baselines.csv`, with every metric that fits the task; the "
        "`<state>` may be `frozen`, of which no model is kept",
    ),
    ("curves/<task>/<state>/seed-<n>.csv", "parts of `learning_curves.csv`"),
    (
        "predictions/<task>/<state>/seed-<n>.csv",
        "[table](#predictionscsv): the model's outputs on the validation split",
    ),
    (
        "predictions/<task>/baselines.csv",
        "[table](#baseline_predictionscsv): what the baselines predict",
    ),
    (
        "seed_grid/<task>/init-<n>-order-<n>.predictions.csv, ….curve.csv, ….scores.csv",
        "the same of a fine-tuning with one seed for the start and another for the order, of which "
        "no model is kept; those of one seed for both are among the run's, if it has that seed",
    ),
    (
        "attention/<task>/pretrained/, attention/<task>/finetuned/seed-<n>/",
        "an [attention store](#formats-other-than-tables): maps cropped to real tokens, half "
        "precision. The maps of the pre-trained model do not depend on a seed",
    ),
    (
        "attention/<task>/random/seed-<n>/",
        "the same of an encoder of the same architecture with random weights, drawn with the first "
        "seed as for `finetuned-from-normal`, and never trained; removed once it is measured",
    ),
    (
        "attention/FrameNet/pretrained/, attention/FrameNet/random/seed-<n>/",
        "the same for the sentences of `framenet_links.csv`; their `idx` is that of the table",
    ),
    (
        "similarity/<task>/seed-<n>.csv, similarity/<task>/seed-<n>.layers.csv",
        "parts of `cosine.csv`; and [by example](#layer_similaritycsv), for `layer_changes.csv` "
        "and `last_layers.csv`",
    ),
    (
        "annotation/<task>.jsonl",
        "tags, heads and dependency labels of the sampled sentences, one example per line: `idx`, "
        "and for `sentence1` and `sentence2` their `text` and `tokens` (`text`, `start`, `end`, "
        "`tag`, `head`, `dep`, `antecedent`; tokens count from 0). `<task>.provenance.json` names "
        "the spaCy pipeline, if one was used, and its version",
    ),
    (
        "features/<task>/<model>/",
        "what the heads of one model attend to; `<model>` is `pretrained`, `finetuned/seed-<n>` or "
        "`random/seed-<n>`. Parts of `stripes.csv`, `cls_attention.csv`, `token_pairs.csv`, "
        "`equal_words.csv` and `head_statistics.csv`; and `examples.npz`, means over the heads of "
        "a layer for every example, read with `darksecrets.features.profiles.Profiles`; and "
        "`strongest.npz`, the kind of token that each map attends to most, read with "
        "`darksecrets.features.strongest.StrongestColumns`; and `statistics.npz`, what decides the "
        "type of every head, for every example, read with "
        "`darksecrets.features.head_types.MapStatistics`",
    ),
    (
        "redundancy/<task>/<model>/head_distances.parquet, redundancy/<task>/example_distances.csv",
        "distances between the heads of one model, parts of `head_distances.parquet`; and means "
        "[by example](#example_distancescsv), for `redundancy.csv`",
    ),
    (
        "treebank/treebank.jsonl",
        "the sentences that heads are compared with, one per line: `name`, `document`, `text`; of "
        "every word `words`, `starts`, `ends` (characters), `heads` (from 0; −1 for the root), "
        "`labels`, `tags`; and `mentions` (`start`, `end`, `head`, in words, `entity`, `gaps`, "
        "`features`) or null. Read it with `darksecrets.syntax.treebank.read`",
    ),
    (
        "treebank/documents.jsonl",
        "with `coreference.source: treebank`, the documents in which heads look for antecedents, "
        "in the same format",
    ),
    (
        "norms/<task>/",
        "weights and norms of all models of a task: parts of `norm_statistics.csv` and "
        "`norm_levels.csv`",
    ),
    (
        "opinions/<task>/",
        "what the heads of all models of a task attend to by other measures of attention: parts of "
        "`stripes_by_measure.csv` and so on; and `examples/<measure>/<model>.npz`, as "
        "`features/<task>/<model>/examples.npz`",
    ),
    (
        "faithfulness/<task>/",
        "attention and decisions of all fine-tuned models of a task: parts of "
        "`attention_gradients.csv`, `faithfulness.csv` and `erasure.csv`",
    ),
    (
        "ablation/<task>/<state>/seed-<n>/",
        "a [sweep](#formats-other-than-tables): predictions on the whole validation split with "
        "heads disabled; `zero/` and so on: the same in each of `ablation.compare_modes`",
    ),
    (
        "ablation_effects/<task>/<state>/seed-<n>/",
        "effects in one sweep: parts of `head_ablation.csv`, `layer_ablation.csv`, "
        "`set_ablation.csv`, `best_head.csv`, `survival.csv` and `mode_comparison.csv`",
    ),
    (
        "joint/<task>/<state>/seed-<n>/",
        "a [sweep](#formats-other-than-tables) of heads disabled together; all its sets are of the "
        "kind `set`",
    ),
    (
        "joint_effects/<task>/<state>/seed-<n>/",
        "their effects: parts of `joint_ablation.csv` and `tolerated_heads.csv`",
    ),
    (
        "importance/<task>/seed-<n>/",
        "importance of the heads and MLPs of a fine-tuned model: parts of `head_importance.csv`, "
        "`mlp_importance.csv` and `importance_agreement.csv`; the orders in which its heads are "
        "removed, [`pruning_orders.csv`](#pruning_orderscsv), and how many are, "
        "[`pruning_choices.csv`](#pruning_choicescsv)",
    ),
    (
        "gates/<task>/seed-<n>/",
        "heads of a fine-tuned model closed by gates that learn: parts of `learned_gates.csv` and "
        "`head_gates.csv`",
    ),
    (
        "pruned/<task>/seed-<n>/",
        "a [sweep](#formats-other-than-tables) of heads that are removed together",
    ),
    (
        "pruning/<task>/seed-<n>/",
        "their scores: parts of `pruning_curves.csv`, `pruned_heads.csv`, `smaller_models.csv` and "
        "`layer_needs.csv`",
    ),
    (
        "restored/<task>/<state>/seed-<n>/",
        "outputs of a model with layers and heads restored: `swaps.csv`: [table](#swapscsv), what "
        "was exchanged; `outputs.npz`: `finetuned` `[examples, outputs]`, `swapped` `[swaps, …]`, "
        "`heads` `[layers, heads, …]`, and `validation` and `train` `[parts, points, …]` between "
        "both models. Read it with `darksecrets.landscape.results.Restored`",
    ),
    (
        "snapshots/<task>/<state>/seed-<n>/",
        "weights at some steps of a training, until they are measured: a file a step with the "
        "differences from the start, bfloat16, and `snapshots.json`, what the training depends on, "
        "and norms and shapes of the weights that it began with. Read it with "
        "`darksecrets.finetuning.snapshots.Snapshots`",
    ),
    (
        "trajectories/<task>/<state>/seed-<n>/",
        "`heads.npz`: what was measured of every head's maps at these steps, example by example, "
        "`[snapshots, examples, layers, heads]`. Read it with "
        "`darksecrets.landscape.followed.Followed`",
    ),
    (
        "flatness/<task>/<state>/seed-<n>.csv",
        "how flat the loss is around a model: a part of `flatness.csv`",
    ),
    (
        "landscape/<task>/<state>/",
        "their scores over seeds: parts of `restored_layers.csv`, `restored_heads.csv`, "
        "`restored_means.csv`, `interpolation.csv` and `change_and_cost.csv`",
    ),
    (
        "surfaces/<task>/seed-<n>/",
        "losses around a fine-tuned model: parts of `loss_surfaces.csv` and `surface_points.csv`; "
        "and `loss_surface.npz`, the same as arrays: the `splits`; of the planes `models` and "
        "`random` and of the `line`, `<plane>_x` `[columns]`, `<plane>_y` `[rows]`, and "
        "`<plane>_losses` and their standard `<plane>_errors` `[splits, rows, columns]`; the names "
        "of the `corners`; of these and of the `path` of the training `corner_shares`, "
        "`corner_distances` `[points, 2]` and so on; `checked` `[splits, points, 2]`, losses of "
        "some points as computed, and in float32. Read it with "
        "`darksecrets.landscape.surface.Surface`",
    ),
    (
        "pruned_models/<task>/seed-<n>/",
        "a smaller model (target `pruned_models`): `model.pt2`, a program of `torch.export` that "
        "PyTorch alone can run; `heads.json`, the names of its inputs in order, and the removed "
        "heads by layer; the tokenizer",
    ),
    (
        "subnetworks/<task>/seed-<n>/",
        "subnetworks of a fine-tuned model: parts of `subnetworks.csv`, `subnetwork_scores.csv` "
        "and `magnitude_pruning.csv`; `predictions/`: a [sweep](#formats-other-than-tables) of the "
        "whole model, of all subnetworks and of fewer weights",
    ),
    (
        "retrained/<task>/seed-<n>/<subnetwork>-<draw>.csv",
        "[table](#predictionscsv): outputs of a subnetwork that was trained again",
    ),
    (
        "compression/<task>/seed-<n>/",
        "compressed models of a task: parts of `compression.csv` and `compression_times.csv`",
    ),
    (
        "compressed_models/<task>/seed-<n>/<method>-<amount>/",
        "every compressed model (target `compressed_models`), as in `pruned_models/`; "
        "`compression.json` says how it was made",
    ),
    (
        "attention_chunks/, ablation_chunks/, joint_chunks/, pruned_chunks/",
        "chunks of a store of `attention/` and of a sweep of `ablation/`, `joint/` or `pruned/`, "
        "if the configuration splits them (`attention.chunks`, `ablation.chunks`); removed once "
        "they are merged",
    ),
    (
        "patterns/maps/",
        "a [set of maps](#sets-of-labelled-maps) to label",
    ),
    (
        "patterns/classifier/",
        "the network that classifies maps by pattern: `model.safetensors`; `classifier.json`, its "
        "classes in order and the temperature of its logits",
    ),
    (
        "patterns/<task>/<model>.parquet",
        "the pattern of every map of one model on one task, a part of `pattern_maps.parquet`; "
        "`<model>` is `pretrained`, `finetuned/seed-<n>` or `random/seed-<n>`",
    ),
    (
        "look/<name>/",
        "what the target `look` makes of a text; `<name>` is `look.name`, or ten characters that "
        "follow from the text: `attention/`, an [attention store](#formats-other-than-tables); the "
        "[table of examples](#examplescsv) and that of [maps drawn large](#showncsv); "
        "`pattern_maps.parquet`; `features/`, the measures of heads, with the columns of the "
        "tables of those names (`task` is the text's ten characters, `state` is `pretrained`); "
        "`figures/statistics.*`; of the n-th example, `figures/heads-<n>.*`, `figures/maps-<n>.*`",
    ),
    ("tables/*.csv, tables/*.parquet", "the [tables](#tables) below"),
    (
        "tables/framenet_example.npz",
        "the sentence of Figure 3: its `idx` and `tokens`; `layers` and `heads` (from 1) of the "
        "heads shown, and their `maps`; the word pieces of `element` and `predicate`. "
        "Read it with `darksecrets.framenet.example.Example`",
    ),
    ("tables/typical_maps.npz", "the maps of `typical_maps.csv`: an array for each `map`"),
    (
        "figures/",
        "every figure as `.pdf`, `.svg`, `.png`; `table1.md`, `table1.html`, `table1.tex`; "
        "`claims.md`, `claims.html`",
    ),
    (
        "atlas.html",
        "the [atlas of heads](atlas.md): one page that opens from disk and loads nothing",
    ),
    (
        "atlas/<task>.json",
        "what the atlas shows of a task's maps: mean maps and profiles of every model, chosen "
        "examples with labels, predictions and maps, packed by `darksecrets.atlas.packing`",
    ),
    (
        "run.html, run.json",
        "what made the run: commits, dates, seeds, revisions, hardware, versions, time and memory "
        "of every rule",
    ),
    ("report.html", "Snakemake's self-contained report"),
    ("logs/, benchmarks/", "output of every job; its time and memory"),
    (
        "**/provenance.json, *.provenance.json",
        "provenance of a result: parameters, seeds, fingerprints of inputs and outputs, "
        "library versions, the project's commit, the machine",
    ),
    (
        "**/.fingerprints.json, **/.fingerprints/*.json",
        "size and SHA-256 of every file of a result, with which jobs compare what they read: of a "
        "folder inside it, of a file `<name>` in `.fingerprints/<name>.json` beside it; `*.seen` "
        "beside these only saves time. Without it, a result is not checked",
    ),
    (
        ".results.json",
        "the rule of every result of the run, by path, written when a run has ended without an "
        "error; `make verify` misses those that are gone",
    ),
)
"""Path under ``results/<run>/``, and its content."""

FORMATS: tuple[tuple[str, str], ...] = (
    (
        "Attention store (`attention/…`)",
        "`maps.npy`: all maps in one flat array, half precision; an example has layers × heads × "
        "L × L numbers, `[layer, head, query, key]`, with L its number of "
        "real tokens. `examples.parquet`: a row per example in the order of the maps, with `idx` "
        "and, for every token, its text, segment, whether it is special, and its first and "
        "last + 1 character. `store.json`: numbers of layers, heads and examples; with local "
        "attention, also `windows`, each layer's largest distance between a query and its keys. "
        "Read it with `darksecrets.attention.store.AttentionStore`",
    ),
    (
        "Sweep (`ablation/…`, `joint/…`, `pruned/…`)",
        "`sets.csv`: [table](#setscsv), a row per disabled set. `predictions.npz`: "
        "`predictions` `[sets, examples]`, `labels` and `idx` `[examples]`. Read it with "
        "`darksecrets.ablation.results.SweepResult`",
    ),
)
"""Formats other than tables: name, and the files that they consist of."""

TARGETS = (
    *("all", "table1", *(f"figure{number}" for number in range(1, 10)), "pattern_heads"),
    *(
        "pattern_quality",
        "stripe_tokens",
        "stripes_index",
        "stripes",
        "head_statistics",
        "token_pairs",
        "redundancy",
        "weights_and_norms",
        "stripes_by_measure",
        "claims_by_measure",
        "syntactic_heads",
        "attention_probes",
        "coreference_heads",
        "attention_gradients",
        "faithfulness",
    ),
    *("ablation_deltas", "ablation_distribution", "ablation_gains", "task_agreement"),
    *("joint_ablation", "importance_agreement", "pruning_curves", "learned_gates"),
    *("surviving_parts", "subnetwork_scores"),
    *("compression", "compression_times"),
    *("restored_layers", "paths", "head_trajectories", "loss_surfaces", "flatness"),
    *("learning_curves", "claims", "atlas", "report"),
)
"""Named targets of a run."""
OTHER_TARGETS = (
    ("pruned_models", "`pruned_models/`"),
    ("compressed_models", "`compressed_models/`"),
    ("look", "`look/<name>/`"),
    ("sample_maps", "`patterns/maps/`"),
    ("pretrain_tiny_bert", "`results/tiny-bert/`"),
)
"""Named targets outside of a run, and what they make."""
