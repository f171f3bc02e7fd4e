"""What goes into Label Studio, whatever the format: fields of a task, labelling interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from fewgold.formats._export import beside, clean, extra, is_number, number, options, step
from fewgold.formats._format import Format
from fewgold.formats._json import KEY
from fewgold.formats._layout import AFTER, BEFORE, Layout
from fewgold.formats._model import Rating, Segment, Tasks

#: Columns that Label Studio adds to its flat exports, and names of ours.
RESERVED = (
    "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement",
    "history", "fewgold",
)  # fmt: skip
#: Columns by which the flat exports are known.
FLAT = ("annotation_id", "annotator")


def config(tasks: Tasks) -> str:
    """The interface as XML, to paste under Settings > Labeling Interface > Code.

    A scale of few whole numbers becomes one button each, any other a field for a number. Context
    stands above and below, under a heading that says not to rate it.

    >>> from fewgold.formats import Segment
    >>> tasks = Tasks((Segment("fg-0-abc234", "1", {"output": "Hallo"}),), limits=(0, 1))
    >>> print(config(tasks))
    <View>
      <Header value="output"/>
      <Text name="output" value="$output"/>
      <Header value="Is this output adequate? (0 = no, 1 = yes)"/>
      <Choices name="score" toName="output" choice="single" showInline="true" required="true">
        <Choice value="0"/>
        <Choice value="1"/>
      </Choices>
    </View>
    """
    layout = Layout(tasks, RESERVED)
    shown = [(name, field) for name, field in layout.fields.items()]
    if layout.has_context:
        note = "context {}, do not rate"
        shown = [(note.format("before"), BEFORE), *shown, (note.format("after"), AFTER)]
    lines = ["<View>"]
    for title, field in shown:
        lines.append(f"  <Header value={_attribute(title)}/>")
        lines.append(f'  <Text name="{field}" value="${field}"/>')
    to = list(layout.fields.values())[-1] if layout.fields else "segment_id"
    if not layout.fields:
        lines.append('  <Text name="segment_id" value="$segment_id"/>')
    lines.append(f"  <Header value={_attribute(tasks.instruction)}/>")
    return "\n".join([*lines, *_control(tasks, layout.score, to), "</View>", ""])


class LabelStudio(Format):
    """What both formats share: the interface that goes with the tasks."""

    config = staticmethod(config)

    def beside(self, path: str | Path) -> Path:
        """Where `write_tasks` puts the labelling interface: ``tasks.config.xml``."""
        return beside(path, ".config.xml")


def data_of(layout: Layout, segment: Segment, key: str) -> dict[str, Any]:
    """The data of a task, known by ``key``."""
    return {**layout.carried(segment), **layout.texts(segment), KEY: key}


def kept_of(rating: Rating) -> tuple[Any, dict[str, Any]]:
    """The seconds taken, and what Label Studio has no field for."""
    lead = rating.details.get("lead_time")
    held = is_number(lead)
    others = {n: v for n, v in rating.details.items() if n != "lead_time" or not held}
    return (lead if held else None), extra(others, system=rating.system)


def _control(tasks: Tasks, name: str, to: str) -> list[str]:
    points = options(tasks.limits)
    start = f'name="{name}" toName="{to}"'
    if points is not None:
        return [
            f'  <Choices {start} choice="single" showInline="true" required="true">',
            *(f'    <Choice value="{point}"/>' for point in points),
            "  </Choices>",
        ]
    ends = ""
    if tasks.limits is not None:
        low, high = (number(end) for end in tasks.limits)
        ends = f' min="{low}" max="{high}" step="{step(tasks.limits)}"'
    return [f'  <Number {start}{ends} required="true"/>']


def _attribute(text: str) -> str:
    """An attribute's value, quoted; a dollar sign would name a field of the task."""
    return quoteattr(clean(text).replace("$", "$\u200b"))
