"""The registry of claims: its entries, and messages about wrong ones."""

from pathlib import Path

import pytest
import yaml

import darksecrets
from darksecrets.core.run.errors import InputError
from darksecrets.pages.claims import registry
from darksecrets.pages.contracts import TABLES

PAPERS = registry.read(registry.files())
QUESTIONS = [
    (claim.id, question)
    for paper in PAPERS
    for claim in paper.claims
    for question in claim.questions
]


@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_questions_are_about_declared_tables_and_columns(name, question):
    assert set(question.sources) <= set(TABLES)
    if question.table in TABLES:
        columns = {column.name: column for column in TABLES[question.table].columns}
        used = {question.value, *question.where, *question.each, *filter(None, [question.add])}
        assert used - {"task"} <= set(columns)
        for column, wanted in question.where.items():
            allowed = columns[column].values
            values = wanted if isinstance(wanted, tuple) else (wanted,)
            assert not allowed or set(values) <= {*allowed, None}
        ends = [c for c in columns.values() if c.interval_of == question.value]
        needs = not (question.exact or question.test)
        assert len(ends) == 2 * needs or not needs, f"{question.value} has no interval"
    else:
        assert question.function is not None


def test_claims_of_all_papers_have_ids_of_their_own():
    """The atlas names them by their ids."""
    ids = [claim.id for paper in PAPERS for claim in paper.claims]
    assert len(ids) == len(set(ids))


def test_code_of_sections_is_known_to_the_workflow():
    folder = Path(darksecrets.__file__).parent
    named = set(registry.modules(PAPERS))
    for pattern, all_of in (("paper/*/claims.py", True), ("beyond/*/shown.py", False)):
        files = folder.glob(pattern)
        known = {".".join(path.relative_to(folder.parent).with_suffix("").parts) for path in files}
        assert known & named
        assert not all_of or known <= named
        named -= known
    assert not named


ENTRY = {
    "id": 1,
    "section": "1",
    "claim": "It holds.",
    "answer": {"table": "survival", "is": {"above": 0}},
}


def written(folder: Path, *claims: dict[str, object]) -> Path:
    """The file of a paper with some claims."""
    paper = {"title": "T", "analysis": "paper", "needs": "N", "data": ["GLUE"], "tasks": ["RTE"]}
    path = folder / "someone2020.yaml"
    path.write_text(yaml.safe_dump({**paper, "claims": [*claims]}))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": {"table": "survival"}}, "the keys table instead of is, table"),
        (
            {"answer": {"table": "survival", "is": {"over": 0}}},
            "unexpected keyword argument 'over'",
        ),
        ({"answer": {"table": "survival", "is": {"near": 0}}}, "near together with within"),
        ({"answer": {"table": "survival", "is": {"above": 0}, "for": "most"}}, "for: most"),
        (
            {"answer": {"table": "survival", "test": True, "is": {"greatest": "RTE"}}},
            "instead of below and a level of significance, for a test",
        ),
        ({"because": 1}, "the keys answer, because, claim, id, section instead of"),
        ({"answer": None}, "no question instead of an answer"),
    ],
)
def test_a_wrong_entry_is_named(change, message, tmp_path):
    with pytest.raises(InputError, match="claim 1: ") as error:
        registry.read([written(tmp_path, ENTRY | change)])
    assert message in str(error.value)


def test_a_claim_is_there_once(tmp_path):
    with pytest.raises(InputError, match="several claims 1 instead of one of each id"):
        registry.read([written(tmp_path, ENTRY, ENTRY)])


def test_a_paper_is_added_with_a_file_alone(tmp_path):
    (found,) = registry.read([written(tmp_path, ENTRY)])
    assert (found.name, found.claims[0].tables) == ("someone2020", ("survival",))
