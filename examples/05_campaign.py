"""Run a campaign: draw segments, send them out, import answers, add a wave, and report."""

import sys
import tempfile
from pathlib import Path

from fewgold import Campaign, formats
from fewgold.datasets import load_demo

pool, gold = load_demo(texts=True)
human = dict(zip(pool.ids.tolist(), gold.tolist(), strict=True))


def people(tasks: formats.Tasks, rater: str) -> list[formats.Rating]:
    """The answers of a rater to the segments that are to be rated."""
    return [formats.Rating(s.key, human[s.id], rater) for s in tasks.to_rate]


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    with Campaign.create(folder / "study", pool, seed=1, limits="mqm", tolerance=0.3) as study:
        # Monday: choose segments, and write tasks for Label Studio.
        study.select(80)
        tool = formats.get("label-studio")
        tool.write_tasks(study.tasks(context=2), folder / "tasks.json")

        # Wednesday: Label Studio's export has half of the answers.
        answers = people(study.tasks(), "ann")
        tool.write_ratings(study.tasks("all"), answers[:40], folder / "export.json")
        print(study.import_file(folder / "export.json").stored, "answers stored")
        print("if the others are missing at random:", study.estimate("at-random"))

        # Thursday: the rest. Some answers come a second time, and are not counted twice.
        receipt = study.add(answers[30:])
        print(f"{receipt.stored} stored, {receipt.known} already known")

        # Friday: add as many segments as the tolerance needs, rated by somebody else.
        goal = study.status().goal
        print(f"± {goal['half_width']:.2f} so far; ± {goal['tolerance']} needs {goal['more']} more")
        study.more(goal["more"])
        study.add(people(study.tasks(), "bob"))
        print()
        print(study.estimate().summary())
        print(f"true mean of all {len(pool)}: {gold.mean():.4f}")

        place = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "report.html"
        page = study.report(title="Friday's number").write(place)
        print(f"report: {page}")
