"""Signals at moments of every rule, to Snakemake, to its jobs, and to all, as from a terminal."""

import pytest
from faults.trial import EQUAL, SEED, SIGNALS, strike, wait_for_end

pytestmark = pytest.mark.faults

MOMENTS = 80
WHOM = ("snakemake", "job", "all")
WHOLE_RUNS = ("finetune", "prepare_dataset", "sweep_heads_chunk", "collect_features")


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_one_call_makes_what_a_signal_left_undone(trial, jobs, chance, moment, outcomes):
    assert len(jobs) <= MOMENTS, "every rule has its moment"
    rule = sorted(jobs)[moment % len(jobs)]
    targets = chance.choice(sorted(jobs[rule]))
    whom = WHOM[moment % len(WHOM)]
    number = SIGNALS[(moment // len(WHOM)) % len(SIGNALS)]
    started = trial.start(*targets, "--forcerun", rule)
    running = strike(started, whom, number, chance.uniform(0, 4))
    wait_for_end(started, running)
    assert trial.end_after(*targets) == EQUAL
    outcomes.add("signal", f"{number.name} to {whom}: {rule}", EQUAL)


@pytest.mark.parametrize("rule", WHOLE_RUNS)
@pytest.mark.parametrize("whom", ["snakemake", "all"])
def test_one_call_completes_a_whole_run_that_was_killed(trial, chance, jobs, rule, whom, outcomes):
    number = chance.choice(SIGNALS)
    started = trial.start("all", "report", "--forcerun", rule)
    running = strike(started, whom, number, chance.uniform(0, 40))
    wait_for_end(started, running)
    assert trial.end_after("all", "report") == EQUAL
    outcomes.add("signal, whole run", f"{number.name} to {whom}: {rule} (seed {SEED})", EQUAL)
