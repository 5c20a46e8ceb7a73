# How sections and analyses say what the run makes: tables, figures, other files.


from workflow.lib import captions, figures

# Targets of the paper and of each further analysis, whether or not this run makes it.
RESULTS_OF: dict[str, list[str]] = {name: [] for name in (analyses.PAPER, *analyses.find())}
RESULTS_OF_RUN: list[str] = []  # targets of `all`: those of the analyses that this run makes
# Names of tables that the configuration or the encoder leaves out.
TABLES_LEFT_OUT: set[str] = set()
# Tables with a row for every head and feature, or for every labelled map: too large for the report.
NOT_OFFERED = {
    "attention_levels",
    "attention_levels_by_measure",
    "norm_statistics",
    "equal_word_controls",
    "pattern_predictions",
    "stripes",
}
CHECKS: dict[str, Callable[[Mapping], None]] = {}  # by rule: made before a run that has its jobs


def add_results(*results: str, of: str = analyses.PAPER, when: bool = True) -> None:
    """Make tables (by name) and other files part of the paper, or `of` an analysis.

    They become targets of `all` if the run makes that analysis. If `when` is false, because the configuration or
    the encoder leaves them out, there are none.
    """
    files = [
        each if Path(each).suffix else f"<results>/tables/{contracts.TABLES[each].file}"
        for each in results
    ]
    if not when:
        TABLES_LEFT_OUT.update(Path(file).stem for file in files if "/tables/" in file)
        return
    RESULTS_OF[of] += files
    if of in config["analyses"]:
        RESULTS_OF_RUN.extend(files)


def table(name: str) -> str:
    """A table as the output of a rule; the report offers it to download, unless it is too large."""
    path = f"<results>/tables/{contracts.TABLES[name].file}"
    if Path(path).suffix != ".csv" or name in NOT_OFFERED:
        return path
    labels = {"section": contracts.section_of(name), "table": f"{name}.csv"}
    return report(path, category="Tables to download", labels=labels)


def is_made(table: str) -> bool:
    """Whether the run makes a table."""
    analysis = analyses.analyses_by_table().get(table, analyses.PAPER)
    return table not in TABLES_LEFT_OUT and analysis in config["analyses"]


FIGURES: dict[str, figures.Figure] = {}  # of the whole workflow, by name


def figure(
    name: str,
    what: str,
    *,
    label: str,
    section: str,
    when: bool = True,
    left_out: str = "",
    tasks: list[str] | None = None,
    options: Mapping[str, str] | None = None,
    formats: tuple[str, ...] = ("svg", "pdf", "png"),
    **sources: str | list[str],
) -> figures.Figure:
    """A figure for `draw`, which is drawn from `sources`.

    The report shows it as `label` under `section`, with the caption `workflow/report/<name>.rst`. It shows all
    tasks of the run, or only `tasks`; `options` are settings that its module reads. It is not made unless `when`,
    nor if there is a reason why it is left out.
    """
    FIGURES[name] = figures.Figure(
        name=name,
        what=what,
        label=label,
        section=section,
        is_made=bool(when) and not left_out,
        left_out=left_out,
        formats=formats,
        metrics={task: METRICS_OF_TASKS[task] for task in tasks or METRICS_OF_TASKS},
        options=dict(options or {}),
        sources=sources,
    )
    return FIGURES[name]


def draw(
    name: str,
    *members: figures.Figure,
    of: str = analyses.PAPER,
    group: str | None = None,
    label: str = RUN_LABEL,
) -> None:
    """Draw figures of the paper, or `of` an analysis, in one job, and add a target for each of them.

    Loading the libraries takes longer than drawing, so figures from the same tables share a job.
    """
    if made := [member for member in members if member.is_made]:
        package = None if of == analyses.PAPER else analyses.package_of(of)
        code = {member.name: figures.locate(PROJECT, member.name, package) for member in made}
        draw_together(name, made, code, group, label)
    for member in members:
        add_target(member)
        compat.describe(getattr(rules, member.name), member.what)
        add_results(*member.files, of=of, when=member.is_made)


def draw_together(
    name: str,
    members: list[figures.Figure],
    code: Mapping[str, tuple[str, str]],
    group: str | None,
    label: str,
) -> None:
    """Add the rule of a job that draws figures, each by the function of a module that `code` says."""

    rule:
        name:
            name
        input:
            **{key: files for member in members for key, files in member.inputs.items()},
        output:
            **{
                f"{member.name}_{Path(file).suffix[1:]}": (
                    shown_in_report(member, file) if file == member.files[0] else file
                )
                for member in members
                for file in member.files
            },
        log:
            f"<logs>/{name}.log",
        group:
            group
        conda:
            str(PROJECT / "envs" / "figures.yaml")
        params:
            code=code_of("core/figures.py", *sorted({module for module, _ in code.values()})),
            figures={member.name: member.settings(*code[member.name]) for member in members},
            captions=captions_of(*(member.name for member in members), label=label),
            label=label,
            shown=captions.escape(label),
            paper=PAPER,
        message:
            f"Draw {', '.join(member.name for member in members)}"
        script:
            str(PROJECT / "scripts" / "core" / "figures.py")


def add_target(member: figures.Figure) -> None:
    """Add the target of a figure. If it is not made, that says why, or asks for its tables, whose checks do."""

    rule:
        name:
            member.name
        input:
            files_to_show(member),
        message:
            f"Complete {member.name}"


def files_to_show(member: figures.Figure) -> list | Callable:
    """What the target of a figure asks for."""
    if member.is_made:
        return member.files
    if member.left_out:
        return lambda wildcards: refuse(member.left_out)
    return list(member.inputs.values())


def shown_in_report(member: figures.Figure, file: str) -> str:
    """A figure's file that the report shows."""
    return report(
        file,
        caption=str(caption_file(member.name)),
        category=member.section,
        labels={"result": member.label},
    )


def caption_file(name: str) -> Path:
    """The caption of a figure."""
    return RULES.parent / "report" / f"{name}.rst"


def captions_of(*names: str, label: str) -> Callable:
    """Parameter of a rule: captions of figures as plain text, for their files."""
    params = {"shown": label, "paper": PAPER}
    return lambda wildcards: {
        name: captions.plain(caption_file(name), config, params) for name in names
    }


def collect(
    name: str,
    what: str,
    *,
    tables: Mapping[str, list[str]],
    group: str | None = None,
) -> None:
    """Add a rule that makes tables of the run, each by concatenating its parts, which jobs have made."""

    rule:
        name:
            name
        input:
            **tables,
        output:
            **{name: table(name) for name in tables},
        log:
            f"<logs>/{name}.log",
        group:
            group
        conda:
            str(PROJECT / "envs" / "figures.yaml")
        params:
            code=code_of("core/collect_tables.py"),
            tables=list(tables),
        message:
            f"Gather {', '.join(tables)}"
        script:
            str(PROJECT / "scripts" / "core" / "collect_tables.py")

    compat.describe(getattr(rules, name), what)
