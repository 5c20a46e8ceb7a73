"""Chapters of the report: Snakemake sorts them by name, which must give the paper's order."""

import re

CHAPTER = re.compile(r'^[A-Z]+ = "(Section (\S+): .+)"$', re.MULTILINE)


def test_chapters_are_in_the_papers_order(root):
    """Of one section, its own chapter is first, and those of later rule files follow."""
    main = (root / "Snakefile").read_text("utf-8")
    files = re.findall(r'^include: "(workflow/rules/\w+\.smk)"', main, re.MULTILINE)
    found = [each for file in files for each in CHAPTER.findall((root / file).read_text("utf-8"))]
    assert len(found) >= 11
    ordered = [name for name, _ in sorted(found, key=lambda each: each[1])]
    assert sorted(ordered) == ordered
    assert max(map(len, ordered)) <= 47, "the menu leaves room for the first page's tables"
