"""Figure: attention to the first token."""

from darksecrets.beyond.first_tokens.declared import FIRST_TOKENS

from darksecrets.core.plotting import kit


def draw_first_token_heads(sources: kit.Sources) -> kit.Figure:
    """Draw a grid of heads for every task."""
    table = sources.table(FIRST_TOKENS)
    maps = {task: kit.grid(kit.pick(table, task=task), "share") for task in sources.tasks}

    def heads(axes: kit.Axes, task: str) -> kit.QuadMesh:
        return kit.matrix(axes, maps[task], kit.WEIGHT, kit.largest(*maps.values()), 0)

    panel = kit.Panel(heads, x="Head", y="Layer", bar=kit.Bar("Mean attention"))
    return kit.page(sources, "Attention to the first token", panel)
