"""Claims about subnetworks: their numbers, and tables that decide them each way."""

from claim_cases.subnetworks import kappa, scores
from claim_tables import SEEDS

from darksecrets.beyond.subnetworks.shown import (
    agreement_of_heads,
    deficit_to_good,
    excess_over_random,
)


def test_numbers_are_of_accuracy_and_of_equal_size():
    frame = scores(20, -10, 5)["subnetwork_scores"]
    found = excess_over_random(frame)
    assert set(found["on"]) == {"RTE", "MRPC"}
    assert set(found.loc[found["subnetwork"] == "good", "value"]) == {20}
    assert set(found["subnetwork"]) == {"good", "bad"}
    behind = deficit_to_good(frame)
    assert len(behind) == 2 * len(SEEDS)
    assert behind[["value", "low", "high"]].iloc[0].tolist() == [7, 3, 11]
    one = agreement_of_heads(kappa(0.3, float("nan"), 0.1)["subnetwork_agreement"])
    assert one[["on", "value"]].to_numpy().tolist() == [["RTE", 0.3]]
