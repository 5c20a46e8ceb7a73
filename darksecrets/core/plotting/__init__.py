"""Shapes of figures over seaborn, and the page that they stand on.

A figure is a module with a function ``draw(sources)``. It says which table it shows, what is on
rows, columns and colour, the labels, and the sentence that is its headline:

    from darksecrets.core.plotting import kit

    LOOKS = {"word": kit.line(kit.BLUE, "o"), "punctuation": kit.line(kit.GREEN, "s")}


    def draw(sources: kit.Sources) -> kit.Figure:
        table = sources.table(NORM_LEVELS)

        def shares(axes: kit.Axes, task: str) -> None:
            rows = kit.pick(table, task=task)
            kit.lines(axes, rows, "layer", "weight", LOOKS, by="kind", ends=("low", "high"))

        panel = kit.Panel(shares, x="Layer", y="Share of attention", share="columns")
        return kit.page(sources, "What heads attend to", panel, legend=LOOKS)

Five shapes draw nearly all figures, each on the axes of one panel:

* `matrices.matrix`: a grid of heads, or another table of cells (`seaborn.heatmap`);
* `lines.lines`: lines against the layer or another number (`seaborn.lineplot`);
* `intervals.intervals`: scores with their intervals;
* `shares.shares`: shares stacked (`seaborn.histplot`);
* `attention_map.draw_map`: a map of attention with its tokens.

`page.page` puts them side by side: a column of panels for each task, the headline and the legend
above, colour bars beside, the run and its data at the foot. It is not `seaborn.FacetGrid`, because
that needs pyplot, has one kind of panel in each figure, and no layout that keeps labels apart.
Intervals are in the tables (paired, corrected); seaborn can only estimate its own, so they are
added with matplotlib. Colours have their names in `colours`; all text has the size of `style.SIZE`.
"""
