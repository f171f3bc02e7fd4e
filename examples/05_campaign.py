"""A campaign: draw, send out, take answers as they come, top up, and report."""

import sys
import tempfile
from pathlib import Path

from fewgold import Campaign, formats
from fewgold.datasets import load_demo

pool, gold = load_demo(texts=True)
human = dict(zip(pool.ids.tolist(), gold.tolist(), strict=True))


def people(tasks: formats.Tasks, rater: str) -> list[formats.Rating]:
    """What a rater thinks of the segments that are to be rated."""
    return [formats.Rating(s.key, human[s.id], rater) for s in tasks.to_rate]


with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    with Campaign.create(folder / "study", pool, seed=1, limits="mqm", tolerance=0.3) as study:
        # Monday: choose, and write what Label Studio imports.
        study.select(80)
        tool = formats.get("label-studio")
        tool.write_tasks(study.tasks(context=2), folder / "tasks.json")

        # Wednesday: an export of Label Studio comes back, with half of the answers.
        answers = people(study.tasks(), "ann")
        tool.write_ratings(study.tasks("all"), answers[:40], folder / "export.json")
        print(study.import_file(folder / "export.json").stored, "answers stored")
        print("if chance left the rest out:", study.estimate("at-random"))

        # Thursday: the rest. Some come for the second time, which is noticed.
        receipt = study.add(answers[30:])
        print(f"{receipt.stored} stored, {receipt.known} known already")

        # Friday: as many more as the tolerance takes, rated by somebody else.
        goal = study.status().goal
        print(f"± {goal['half_width']:.2f}; ± {goal['tolerance']} takes {goal['more']} more")
        study.more(goal["more"])
        study.add(people(study.tasks(), "bob"))
        print()
        print(study.estimate().summary())
        print(f"true mean of all {len(pool)}: {gold.mean():.4f}")

        place = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "report.html"
        page = study.report(title="Friday's number").write(place)
        print(f"report: {page}")
