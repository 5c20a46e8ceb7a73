"""Chapters of the report: Snakemake sorts them by name, which must give the paper's order."""

import re

from darksecrets.beyond import analyses

CHAPTER = re.compile(r'^[A-Z_]+ = "(Section ([\d.]+)\b[^"]+)"$', re.MULTILINE)


def test_chapters_are_in_the_papers_order(root):
    """Sorted, sections keep their order, and the paper's own chapter is the first of a section."""
    main = (root / "Snakefile").read_text("utf-8")
    paper = re.findall(r'^include: "(workflow/rules/(?:core|paper)/\w+\.smk)"', main, re.MULTILINE)
    beyond = [f"workflow/rules/beyond/{analyses.package_of(name)}.smk" for name in analyses.find()]
    own, added = (
        [each for file in files for each in CHAPTER.findall((root / file).read_text("utf-8"))]
        for files in (paper, beyond)
    )
    found = [*own, *added]
    assert len(found) >= 11
    assert not [name for name, _ in found if ":" in name], "a link's name ends there"
    numbers = [number for _, number in sorted(found)]
    assert numbers == sorted(numbers)
    first = {number: name for name, number in reversed(own)}
    for number, name in first.items():
        assert name == min(other for other, of in found if of == number)
    assert max(len(name) for name, _ in found) <= 47, "room for the tables of the first page"
