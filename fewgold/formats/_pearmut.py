"""Pearmut: campaigns to add, annotations as JSON lines."""

from __future__ import annotations

import html
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fewgold.formats._export import dumps, number, options, step
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._json import Rows, first_object
from fewgold.formats._layout import Layout, Lookup
from fewgold.formats._model import Rating, Reading, Segment, Tasks
from fewgold.formats._pearmut_items import given_together, item, logged
from fewgold.formats._pearmut_log import is_campaign, read_campaign, read_log
from fewgold.tables import write_texts


class Pearmut(Format):
    """Campaigns and annotations of Pearmut.

    Documents go out whole. Neighbours that give context are items without any output to rate;
    what a system made of them stands in the message above, marked as not to be rated. All raters
    draw documents from one pool (``single-stream``), so each segment is rated once. The key is
    the ``item_id``. A scale other than 0 to 100, or one where less is better, becomes a slider of
    its own.

    A **row** is one output of one segment in one line: a line with a document of 5 segments and
    2 systems has 10. A segment without outputs is one row of context; a segment that was passed
    over (null), and a line that makes no sense, is one row. Tutorials and attention checks
    (``welcome_…``, ``random_…``, ``goodbye_…``) are context, and so is what a reset has taken
    back. A score of null leaves the segment blank. Campaign files are read too: all blank.

    The time is that of the last action, in seconds since 1970 as Pearmut writes it. Error spans
    and comments go into the details. Pearmut knows no answer ids; `write_ratings` keeps them,
    and other details, in a field ``fewgold``. A model called ``default`` stands for no system.
    """

    name = "pearmut"
    title = "Pearmut"
    suffixes = (".json", ".jsonl")

    def recognises(self, probe: Probe) -> bool:
        """True for lines with item, annotation and user, and for a campaign."""
        if probe.is_folder:
            return False
        first = first_object(probe)
        if first is not None and "annotation" in first and "item_i" in first:
            return "user_id" in first
        return is_campaign(probe.json)

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The annotations in a log; see the class for what a row is."""
        rows = Rows(self.name)
        if not read_campaign(rows, path, names):
            read_log(rows, path, names)
        return rows.reading(names)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """A campaign, for ``pearmut add``."""
        layout = Layout(tasks)
        info: dict[str, Any] = {
            "assignment": "single-stream",
            "protocol": "DA",
            "shuffle": False,
            "instructions": html.escape(tasks.instruction),
            "users": list(tasks.raters) or 1,
        }
        # Pearmut's own slider goes from 0 to 100, the better the more.
        own = tasks.limits == (0, 100) and tasks.higher_is_better is not False
        if tasks.limits is not None and not own:
            low, high = map(number, tasks.limits)
            by = 1 if options(tasks.limits) else step(tasks.limits)
            info["sliders"] = [{"name": layout.score, "min": low, "max": high, "step": by}]
        documents: list[list[Segment]] = []
        for segment in tasks.segments:
            last = documents[-1][-1] if documents else None
            if last and last.document and last.document == segment.document:
                documents[-1].append(segment)
            else:
                documents.append([segment])
        listed = [list(map(item, found)) for found in documents if any(s.rate for s in found)]
        campaign = {"campaign_id": tasks.name, "info": info, "data": listed}
        write_texts({Path(path): dumps(campaign, indent=1) + "\n"})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """A log: a line per rater, document and time."""
        find = Lookup(tasks)
        groups: list[list[tuple[Segment, Rating]]] = []
        for rating in ratings:
            segment = find(rating)
            group = groups[-1] if groups else []
            fits = group and given_together(group[-1], (segment, rating))
            if fits and all(r.segment != rating.segment for _, r in group):
                group.append((segment, rating))
            else:
                groups.append([(segment, rating)])
        lines = [dumps(logged(place, group)) + "\n" for place, group in enumerate(groups)]
        write_texts({Path(path): "".join(lines)})
