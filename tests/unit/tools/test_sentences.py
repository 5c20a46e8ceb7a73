"""Sentences of pages about the real run, beside the tables that decide them.

Parts between comments are made from the tables (`test_real`). What is written by hand is here: a
sentence with a number, or with a word such as *holds* or *every*, is decided by a test below, or
says nothing of a result.
"""

import re
from collections.abc import Callable

import pandas as pd
import pytest
import yaml
from scipy.stats import norm

from tools.real.kept import BEYOND, IMPORTANCE, KEPT, MULTILINGUAL, PAPER, ROOT
from tools.real.pages import PART

PAGES = (
    "README.md",
    "docs/findings.md",
    "docs/real-run.md",
    "docs/real-beyond.md",
    "docs/replication.md",
)
NUMBERS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|half"
VERDICTS = (
    "all|both|each|every|most|always|never|none|no|only|hold|holds|fail|fails|undecided|"
    "significant|significantly|more|less|least|best|better|worse|nearly|hardly"
)
DECIDED_WORD = re.compile(rf"\d|\b({NUMBERS}|{VERDICTS})\b", re.IGNORECASE)


def table(name: str, run: str = PAPER) -> pd.DataFrame:
    return pd.read_csv(KEPT / run / f"{name}.csv", dtype={"id": str})


def config(run: str = PAPER) -> dict:
    return yaml.safe_load((KEPT / run / "config.yaml").read_text())


def learned(run: str = PAPER) -> set[str]:
    rows = table("learned", run)
    return set(rows.loc[rows["seed"].isna() & rows["learned"], "task"])


def verdicts(*claims: str) -> set[str]:
    rows = table("claims").query("paper == 'kovaleva2019'").set_index("id")
    return set(rows.loc[[*claims], "verdict_on_learned_tasks"])


def of_learned(name: str) -> pd.DataFrame:
    rows = table(name)
    return rows[rows["task"].isin(learned())]


def model_is_small_and_seeds_are_three() -> bool:
    rows = table("cosine")
    shape = (rows["layer"].max(), rows["head"].max())
    seeds = rows.groupby("task")["seed"].nunique()
    return shape == (6, 12) and set(seeds) == {3} and len(seeds) == 4


def other_models_and_tasks_are_not_in_the_run() -> bool:
    known = config()
    missing = not {"QQP", "QNLI", "MNLI"} & set(known["tasks"])
    return missing and known["model"]["source"] == "folder" and known["framenet"]["source"] == "tsv"


def rte_is_the_one_task_that_no_seed_learned() -> bool:
    rows = table("learned")
    seeds = rows[rows["seed"].notna()].groupby("task")["learned"].sum()
    unlearned = set(config()["tasks"]) - learned()
    return unlearned == {"RTE"} and seeds["RTE"] == 0


def last_two_layers_change_most() -> bool:
    rows = of_learned("last_layers").query("scale == 'change'")
    return verdicts("20") == {"holds"} and (rows["last"] > rows["rest"]).all()


def gain_on_stsb_is_not_significant_among_three_tasks() -> bool:
    row = table("claims").query("paper == 'kovaleva2019' and id == '1'").iloc[0]
    ends = dict(re.findall(r"(\S+) -?[\d.]+ \[([-\d.]+), [-\d.]+\]", row["estimates"]))
    wider = norm.isf(0.025 / len(ends)) / norm.isf(0.025)  # Student's would be more
    corrected = row["value"] - wider * (row["value"] - row["ci_low"])
    return (
        verdicts("1") == {"undecided"}
        and {*ends} == learned()
        and {task for task, low in ends.items() if float(low) > 0} == {row["of"]} == {"STS-B"}
        and round(row["value"], 1) == 0.4
        and corrected < 0 < row["ci_low"]
    )


def six_named_claims_do_not_hold() -> bool:
    rows = table("claims").query("paper == 'kovaleva2019'")
    failing = set(rows.loc[rows["verdict_on_learned_tasks"] == "does not hold", "id"])
    pairs = table("claims").query("id == '34'")["estimates"].item()
    punctuation = rows.loc[rows["id"] == "36", "of"].item()
    named = failing == {"27", "32", "34", "35", "36", "44"}
    return named and "noun to pronoun" in pairs and punctuation == "STS-B"


def six_controls_of_links() -> bool:
    named = set(table("framenet_controls")["control"])
    return len(named) == 6 and {"distance", "key"} < named


def paper_has_these_points() -> bool:
    rows = table("claims").query("paper == 'kovaleva2019' and id == '21'")
    return rows["published"].item() == "35.9"


def paper_has_these_shares() -> bool:
    file = ROOT / "darksecrets" / "resources" / "paper" / "numbers.yaml"
    shares = yaml.safe_load(file.read_text())[0]["printed"].values()
    return (min(shares), max(shares)) == (0.32, 0.61)


def scores_are_of_three_seeds() -> bool:
    rows = table("score_means").query("model in ['pretrained', 'finetuned']")
    return set(rows["seeds"]) == {3}


def random_weights_beside_a_bag_of_words() -> bool:
    rows = table("score_means").query("metric in ['accuracy', 'pearson']")
    scores = rows.set_index(["task", "model"])
    drawn = scores.xs("finetuned-from-normal", level="model")
    words = scores.xs("bag of words", level="model")["score"]
    alike = drawn["ci_low"]["SST-2"] <= words["SST-2"] <= drawn["ci_high"]["SST-2"]
    return alike and drawn["ci_high"]["STS-B"] < words["STS-B"]


def heterogeneous_maps_become_more() -> bool:
    strict = of_learned("patterns").query("definition == 'strict' and pattern == 'heterogeneous'")
    shares = strict.groupby(["task", "state"])["share"].mean().unstack()
    return (shares["finetuned"] > shares["pretrained"]).all()


def block_maps_are_few() -> bool:
    means = table("patterns").query("pattern == 'block' and definition == 'strict'")
    shares = means.groupby(["task", "state"])["share"].mean()
    return shares.max() <= 0.03 + 0.0005


def link_head(layer: int, head: int, direction: str) -> pd.Series:
    rows = table("framenet_heads").query("state == 'pretrained'")
    mine = (rows["layer"] == layer) & (rows["head"] == head) & (rows["direction"] == direction)
    return rows[mine].iloc[0]


def layer_6_head_5_is_the_one_above_the_threshold() -> bool:
    rows = table("framenet_heads").query("state == 'pretrained'")
    above = rows[rows["above_percentile"] & (rows["direction"] == "element_to_predicate")]
    return [*zip(above["layer"], above["head"], strict=True)] == [(6, 5)] and len(rows) == 144


def layer_6_head_5_draws_a_stripe() -> bool:
    rows = table("framenet_controls").query(
        "state == 'pretrained' and layer == 6 and head == 5 and control == 'key'"
        " and direction == 'element_to_predicate'"
    )
    return rows["difference_high"].item() < 0


def layer_4_head_12_exceeds_all_controls_in_reverse() -> bool:
    rows = table("framenet_heads").query("state == 'pretrained' and exceeds_controls")
    found = [*rows[["layer", "head", "direction"]].itertuples(index=False, name=None)]
    return found == [(4, 12, "predicate_to_element")]


def first_three_layers_hardly_change() -> bool:
    means = of_learned("cosine").groupby(["task", "layer"])["similarity"].mean().unstack()
    return means[[1, 2, 3]].min().min() >= 0.95


def cls_prefers_nouns_to_sep() -> bool:
    rows = of_learned("cls_attention").query("state == 'finetuned'")
    best = rows.groupby(["task", "seed", "feature"])["weight"].max().unstack()
    return (best["noun"] > best["[SEP]"]).all()


def most_significant_heads_are_of_stsb() -> bool:
    rows = of_learned("head_ablation").query("metric in ['f1', 'accuracy', 'pearson']")
    found = rows.query("q_value < 0.05")["task"].value_counts()
    return found["STS-B"] > found.sum() / 2


def effects_of_layers() -> pd.DataFrame:
    rows = of_learned("layer_ablation").query("metric in ['f1', 'accuracy', 'pearson']")
    return rows.groupby(["task", "layer"])["delta"].mean().unstack()


def layer_2_is_needed_most() -> bool:
    return (effects_of_layers().loc[["MRPC", "STS-B"]].idxmin(axis=1) == 2).all()


def sst2_loses_less_than_two_points() -> bool:
    return effects_of_layers().loc["SST-2"].min() > -2


def later_run_is_of_three_tasks_and_one_seed() -> bool:
    known = config(BEYOND)
    seeds = [len(entry["seeds"]) for entry in known["tasks"].values()]
    same = known["model"]["name"] == config()["model"]["name"]
    return [*known["tasks"]] == ["MRPC", "STS-B", "SST-2"] and seeds == [1, 1, 1] and same


def claims_about_fine_tuning_are_undecided_there() -> bool:
    rows = table("claims", BEYOND)
    fine_tuned = rows["reason"].str.contains("one seed", na=False)
    return fine_tuned.sum() > 10 and set(rows.loc[fine_tuned, "verdict"]) == {"undecided"}


def half_of_the_heads_of_stsb() -> bool:
    rows = table("pruning_curves", IMPORTANCE).query(
        "task == 'STS-B' and metric == 'pearson' and share == 0.5"
    )
    ordered = rows.query("order == 'absolute gradient'").iloc[0]
    drawn = rows.query("order == 'random'").iloc[0]
    found = [-ordered["delta"], -ordered["ci_high"], -ordered["ci_low"], -drawn["delta"]]
    said = [1.5, 0.8, 2.2, 34.9]
    return [round(value, 1) for value in found] == said and ordered[
        "over_random_low"
    ] < 0 < ordered["over_random_high"]


def f1_of_the_most_frequent_label() -> bool:
    rows = table("pruning_curves", IMPORTANCE).query("task == 'MRPC' and metric == 'f1'").iloc[0]
    return (round(rows["chance"], 1), round(rows["baseline"], 1)) == (81.6, 83.8)


def relations_of_layers() -> pd.DataFrame:
    rows = table("layer_probes", BEYOND).query("property == 'dependency relation'")
    return rows.pivot(index="layer", columns="state", values="accuracy")


def layer_3_tells_relations_best() -> bool:
    best = relations_of_layers()[["pretrained", "finetuned"]].idxmax()
    return set(best) == {3} and relations_of_layers().index.max() == 6


def last_layer_tells_less_than_embeddings() -> bool:
    accuracy = relations_of_layers()[["pretrained", "finetuned"]]
    return (accuracy.loc[6] < accuracy.loc[0]).all()


def layers_are_probed_before_and_after_mrpc() -> bool:
    states = table("layer_probes", BEYOND).groupby("state")["task"].unique()
    of_words = table("layer_probes", BEYOND).query("property == 'part of speech'")
    return "MRPC" in states["finetuned"] and {"pretrained", "finetuned"} <= {*of_words["state"]}


def trees_of_layers_beside_chains() -> bool:
    rows = table("structural_probes", BEYOND).query("state != 'random'").set_index("layer")
    return (rows.loc[3, "over_chain_low"] > 0).all() and (rows.loc[6, "over_chain_high"] < 0).all()


def removed_parts_of_speech_cost_this() -> bool:
    rows = table("removed_properties", BEYOND).set_index("layer").loc[4:6]
    lost, at_random = -rows["delta"], -rows["random"]
    is_f1 = config(BEYOND)["tasks"]["MRPC"]["metrics"][0] == "f1"
    return is_f1 and (round(lost.min()), round(lost.max())) == (31, 49) and at_random.max() < 3


def masked_words_have_fewer_arcs_than_chains() -> bool:
    rows = table("trees", BEYOND)
    rows = rows[rows["tree"].str.startswith("impact") & (rows["state"] == "pretrained")]
    return len(rows) == 2 and (rows["over_chain_high"] < 0).all()


def decisions_on_changed_inputs() -> bool:
    kept = table("changed_inputs", BEYOND).set_index(["task", "change"])["unchanged"]
    shuffled = [kept[task, "words shuffled"] for task in ("MRPC", "SST-2")]
    said = [round(100 * value) for value in (*shuffled, kept["MRPC", "first sentence alone"])]
    return said == [89, 87, 27]


def there_are_two_encoders_of_6_and_12_layers() -> bool:
    shapes = {}
    for run in (PAPER, MULTILINGUAL):
        rows = table("cosine", run)
        shapes[run] = (rows["layer"].max(), rows["head"].max(), rows["seed"].nunique())
    known = config(MULTILINGUAL)
    return (
        shapes == {PAPER: (6, 12, 3), MULTILINGUAL: (12, 12, 2)}
        and [*known["tasks"]] == ["MRPC", "STS-B", "SST-2"]
        and learned(MULTILINGUAL) == set(known["tasks"])
    )


def last_layers_of_the_second_encoder_change_more_but_not_most() -> bool:
    rows = table("last_layers", MULTILINGUAL).query("scale == 'change'")
    return (rows["last"] > rows["rest"]).all() and not rows["greatest"].any()


def heads_of_the_second_encoder_do_not_choose_between_cls_and_sep() -> bool:
    rows = table("cls_attention", MULTILINGUAL).query("state != 'random'")
    rows = rows[rows["feature"].isin(["[CLS]", "[SEP]"])]
    models = [rows[name].fillna("") for name in ("task", "state", "seed", "head")]
    weights = rows["weight"].groupby([*models, rows["feature"]]).first().unstack()
    apart = (weights["[CLS]"] - weights["[SEP]"]).abs() / weights["[CLS]"]
    known = len(weights) == 3 * 3 * 12 and weights.notna().all(axis=None)  # tasks, models, heads
    return known and round(100 * apart.max()) == 3


DECIDED: dict[str, Callable[[], bool]] = {
    "Not replicated yet: the paper's own model": other_models_and_tasks_are_not_in_the_run,
    "| tasks | MRPC, STS-B, SST-2, QQP, RTE, QNLI, MNLI |": model_is_small_and_seeds_are_three,
    "Results so far are of two small encoders.": there_are_two_encoders_of_6_and_12_layers,
    "*Fine-tuning changes attention most in the last two layers": last_two_layers_change_most,
    "Two encoders ([findings]": there_are_two_encoders_of_6_and_12_layers,
    "a second one a [12-layer encoder]": there_are_two_encoders_of_6_and_12_layers,
    "**In short**, of the six-layer encoder": model_is_small_and_seeds_are_three,
    "Neither is **the paper's": other_models_and_tasks_are_not_in_the_run,
    "last two layers change more than the mean": (
        last_layers_of_the_second_encoder_change_more_but_not_most
    ),
    "[CLS] gives itself and [SEP] nearly the same weight": (
        heads_of_the_second_encoder_do_not_choose_between_cls_and_sep
    ),
    "of both encoders stand [side by side]": there_are_two_encoders_of_6_and_12_layers,
    "**Of both encoders**, on the tasks": there_are_two_encoders_of_6_and_12_layers,
    "[Multilingual E5 small]": there_are_two_encoders_of_6_and_12_layers,
    "12 layers of 12 heads, 384 wide": there_are_two_encoders_of_6_and_12_layers,
    "SST-2 with two seeds": there_are_two_encoders_of_6_and_12_layers,
    "on the tasks learned (all but RTE), §": rte_is_the_one_task_that_no_seed_learned,
    "- A vision-language model": other_models_and_tasks_are_not_in_the_run,
    "The run has a [six-layer encoder], four tasks": model_is_small_and_seeds_are_three,
    "Fine-tuning changes the last two layers most.": last_two_layers_change_most,
    "Six claims fail:": six_named_claims_do_not_hold,
    "[SEP] does not get most attention on SST-2": six_named_claims_do_not_hold,
    "Whether disabling a head helps": gain_on_stsb_is_not_significant_among_three_tasks,
    "**Not run yet:**": other_models_and_tasks_are_not_in_the_run,
    "The paper has 35.9 over its seven.": paper_has_these_points,
    "The paper has 32 to 61 %.": paper_has_these_shares,
    "The table counts heads that exceed six controls": six_controls_of_links,
    "with a small real encoder: 6 layers of 12 heads": model_is_small_and_seeds_are_three,
    "mean over three seeds": scores_are_of_three_seeds,
    "No seed learned RTE": rte_is_the_one_task_that_no_seed_learned,
    "Randomly initialized models do as well": random_weights_beside_a_bag_of_words,
    "Fine-tuning makes more maps heterogeneous": heterogeneous_maps_become_more,
    "At most 3 % are block maps": block_maps_are_few,
    "Layer 6, head 5 is above": layer_6_head_5_is_the_one_above_the_threshold,
    "It draws a stripe": layer_6_head_5_draws_a_stripe,
    "Layer 4, head 12 exceeds all controls": layer_4_head_12_exceeds_all_controls_in_reverse,
    "Layers 1 to 3 hardly change": first_three_layers_hardly_change,
    "the best head for nouns gives nouns more": cls_prefers_nouns_to_sep,
    "Most of these are on STS-B": most_significant_heads_are_of_stsb,
    "Layer 2 is needed most": layer_2_is_needed_most,
    "SST-2 loses less than two points": sst2_loses_less_than_two_points,
    "MiniLM, 6 layers of 12 heads, with one seed": later_run_is_of_three_tasks_and_one_seed,
    "Linear probes on the treebank's words": layers_are_probed_before_and_after_mrpc,
    "Layer 3 of 6 tells dependency relations best": layer_3_tells_relations_best,
    "The last layer tells less of them": last_layer_tells_less_than_embeddings,
    "Trees of layer 3 have more of the gold arcs": trees_of_layers_beside_chains,
    "Without the directions that tell parts of speech": removed_parts_of_speech_cost_this,
    "Masked words have fewer of the gold arcs": masked_words_have_fewer_arcs_than_chains,
    "With shuffled words, 89 %": decisions_on_changed_inputs,
    "Without the second sentence, 27 %": decisions_on_changed_inputs,
    "claims about fine-tuned models stay": claims_about_fine_tuning_are_undecided_there,
    "On STS-B, half of the heads": half_of_the_heads_of_stsb,
    "F1 hides much on MRPC": f1_of_the_most_frequent_label,
}
"""How a sentence begins, or words that only it has, and what decides it."""

NO_RESULT = (
    "EMNLP-IJCNLP 2019, pages",
    "All six experiments of section 4",
    "Table 1 and Figures 1 to 9, with",
    "Where text and released notebook disagree",
    "Other programs recompute the numbers in tests",
    "[the run's page] all figures.",
    "None of these is a verdict on the paper",
    "needs a GPU for about five hours",
    "(Kovaleva et al., 2019)",
    "has not been run yet (5 GPU hours)",
    "You need Python 3.11",
    "Figure 7 needs tags and parses",
    "| run | machine | time |",
    "an answer below is about these encoders, never a verdict",
    "On all of the paper's tasks together, §.",
    "The last column has the answer on the tasks",
    "claims.csv] the answers on all tasks",
    "points above pre-trained ones, on average over these tasks",
    "The intervals of claims about patterns are as wide as",
    "Above the 99th percentile, as the paper puts it",
    "The best of many heads gains something on the examples that chose it",
    "A gain on some task is decided by an interval that is corrected",
    "here it is shown before the correction",
    "[Table 1] has the scores.",
    "[Its atlas] shows every head.",
    "| encoder | BERT-base, 12 layers | MiniLM, 6 layers |",
    "RTE-1 to RTE-3",
    "| epochs | 3 | 3 | | seeds | 1 | 3 |",
    "(CC BY-SA 4.0)",
    "A probe over the attention of all heads finds the heads of § %",
    "Clark et al. report 61 for BERT-base",
    "each with `c` and `c` in the layout",
    "473 FrameNet sentences",
)
"""Words of sentences about the paper, the set-up, definitions and parts that are made."""


def sentences(page: str) -> list[str]:
    """What a page says by hand, without code, pictures, headings and addresses of links."""
    text = PART.sub("§", (ROOT / page).read_text())
    text = re.sub(r"```.*?```|!\[.*?\]\(.*?\)", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "`c`", re.sub(r"\]\([^)]*\)", "]", text))
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    split = re.compile(r"(?<=[.:;])\s+(?=[A-Z*\[|§`])")
    return [s for part in paragraphs if not part.startswith("#") for s in split.split(part)]


@pytest.mark.parametrize("page", PAGES)
def test_a_sentence_with_a_number_or_a_verdict_is_decided_by_a_table(page):
    known = (*DECIDED, *NO_RESULT)
    said = [sentence for sentence in sentences(page) if DECIDED_WORD.search(sentence)]
    assert [each for each in said if not any(words in each for words in known)] == []


@pytest.mark.parametrize("words", DECIDED)
def test_the_table_says_so(words):
    assert DECIDED[words]()


def test_every_sentence_of_the_list_is_on_a_page():
    said = [sentence for page in PAGES for sentence in sentences(page)]
    assert [words for words in (*DECIDED, *NO_RESULT) if not any(words in s for s in said)] == []


def test_a_number_of_the_set_up_is_the_run_s():
    page = (ROOT / "docs" / "real-run.md").read_text()
    tasks = config()["tasks"]
    assert f"| tasks | seven of GLUE | {', '.join(tasks)} |" in page
    assert f"| seeds | 1 | {len(config()['seeds'])} |" in page
    epochs = {name: entry["epochs"] for name, entry in tasks.items()}
    assert set(epochs.values()) == {3}
