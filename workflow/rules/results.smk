# How sections and analyses say what the run makes: tables, figures, other files.


from workflow.lib import captions, figures

# Targets of the paper and of each further analysis, whether or not this run makes it.
RESULTS_OF: dict[str, list[str]] = {name: [] for name in (analyses.PAPER, *analyses.find())}
RESULTS_OF_RUN: list[str] = []  # targets of `all`: those of the analyses that this run makes
# Names of tables that the configuration or the encoder leaves out.
TABLES_LEFT_OUT: set[str] = set()
ANALYSIS = analyses.PAPER  # the one whose rule file is being read
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


def add_results(*results: str, when: bool = True) -> None:
    """Make tables (by name) and other files part of the analysis whose rule file calls this.

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
    RESULTS_OF[ANALYSIS] += files
    if ANALYSIS in config["analyses"]:
        RESULTS_OF_RUN.extend(files)


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
    package = None if ANALYSIS == analyses.PAPER else analyses.package_of(ANALYSIS)
    FIGURES[name] = figures.Figure(
        name=name,
        what=what,
        label=label,
        section=section,
        is_made=bool(when) and not left_out,
        left_out=left_out,
        formats=formats,
        code=figures.locate(PROJECT, name, package),
        metrics={task: METRICS_OF_TASKS[task] for task in tasks or METRICS_OF_TASKS},
        options=dict(options or {}),
        sources=sources,
    )
    return FIGURES[name]


def draw(name: str, *members: figures.Figure, label: str = RUN_LABEL) -> None:
    """Draw figures in one job, and add a target for each of them.

    Loading the libraries takes longer than drawing, so figures from the same tables share a job.
    """
    if made := [member for member in members if member.is_made]:
        draw_together(name, made, label)
    for member in members:
        add_target(member)
        compat.describe(getattr(rules, member.name), member.what)
        add_results(*member.files, when=member.is_made)


def draw_together(name: str, members: list[figures.Figure], label: str) -> None:
    """Add the rule of a job that draws figures."""

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
        conda:
            str(PROJECT / "envs" / "figures.yaml")
        params:
            figures={member.name: member.settings for member in members},
            modules=figures.modules_of(members),
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
) -> None:
    """Add a rule that makes tables of the run, each by concatenating its parts, which jobs have made."""

    rule:
        name:
            name
        input:
            **tables,
        output:
            **{table: f"<results>/tables/{contracts.TABLES[table].file}" for table in tables},
        log:
            f"<logs>/{name}.log",
        conda:
            str(PROJECT / "envs" / "figures.yaml")
        params:
            tables=list(tables),
        message:
            f"Gather {', '.join(tables)}"
        script:
            str(PROJECT / "scripts" / "core" / "collect_tables.py")

    compat.describe(getattr(rules, name), what)
