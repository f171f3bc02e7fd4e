"""Every command on embedded data: what it prints as JSON is kept in `commands/`.

    python tests/golden/commands.py            what has changed
    python tests/golden/commands.py --write    agree to it

The steps run one after another in one folder, so that later ones read what earlier ones wrote.
`tests/test_golden_commands.py` compares.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from fewgold.cli import app
from fewgold.datasets import demo_frame, judged_frame, load_demo

FOLDER = Path(__file__).with_name("commands")

#: Steps by name: a command of fewgold, or "rate", which fills in the scores of sheets.
STEPS = {
    "save": "demo --save data",
    "doctor-pool": "doctor data/pool.csv",
    "doctor-systems": "doctor systems.csv",
    "doctor-judged": "doctor judged.csv",
    "strategies": "strategies",
    "select": "select data/pool.csv --budget 100 --seed 7 -o sheet.csv",
    "select-strata": "select data/pool.csv --budget 60 --strategy docs-prop+cv-comet --seed 3 "
    "-o strata.csv",
    "select-bins": "select data/pool.csv --budget 50 --strategy metrics-prop+cv-multi --seed 3 "
    "-o bins.csv",
    "select-random": "select data/pool.csv --budget 80 --strategy random+mean --seed 5 --in-order "
    "-o random.csv",
    "select-whole": "select data/pool.csv --budget 10% --strategy docs-whole+mean --seed 2 "
    "-o whole.csv",
    "select-cost": "select data/pool.csv --cost-budget 3000 --cost 10+0.5*words --risk 0.05 "
    "--seed 4 -o cost.csv",
    "select-shared": "select systems.csv --shared --budget 40 --seed 6 --strategy docs-sys+mean "
    "--texts none -o shared.csv",
    "rate": "rate sheet.csv strata.csv bins.csv random.csv whole.csv cost.csv shared.csv",
    "doctor-sheet": "doctor sheet.csv",
    "estimate": "estimate sheet.csv",
    "estimate-limits": "estimate sheet.csv --limits mqm --lower-is-better",
    "estimate-knn": "estimate strata.csv --estimator cv-knn --confidence 0.9",
    "estimate-strata": "estimate strata.csv --bound student",
    "estimate-bins": "estimate bins.csv",
    "estimate-guaranteed": "estimate random.csv --bound star --limits 0,25",
    "estimate-whole": "estimate whole.csv",
    "estimate-cost": "estimate cost.csv",
    "estimate-adequate": "estimate random.csv --adequate '<=1' --estimator 'alpha-comet>=0.3'",
    "select-given": "select data/pool.csv --given sheet.csv --budget 20 --seed 8 -o more.csv",
    "report": "report sheet.csv -o report.html --limits 0,25",
    "gate": "gate random.csv --bar 3 --lower-is-better",
    "gate-worse": "gate judged.csv --human passed --chosen random --bar 0.95 --looks 5",
    "gate-unknown": "gate weeks.csv --chosen random --by date --every week --bar 0.6 "
    "--unknown-passes",
    "monitor": "monitor weeks.csv --chosen random --batch date --every week --drop 0.15",
    "monitor-fixed": "monitor weeks.csv --chosen random --batch date --every week --drop 0.15 "
    "--baseline 3 --looks 20 --budget 600 --batches 20",
    "monitor-target": "monitor weeks.csv --chosen random --batch date --every week --drop 0.15 "
    "--against 0.8 --average-run 50",
    "monitor-stale": "monitor stale.csv --chosen random --batch date --every week --drop 0.15 "
    "--looks ever --baseline 8",
    "monitor-later": "monitor weeks.csv --chosen random --batch date --every week --drop 0.15 "
    "--plan --ratings 20,40 --delay 3",
    "monitor-sheet": "monitor sheet.csv --batch document --limits mqm",
    "monitor-plan": "monitor --plan --sd 0.3 --drop 0.1,0.2 --ratings 20,40 --size 300",
    "monitor-anchor": "monitor --anchor anchors.csv --batch week --judge llm --trusted people",
    "judge": "judge judged.csv --human passed --judge judge --by system",
    "judge-sheet": "judge sheet.csv --judge comet",
    "raters": "raters verdicts.csv --raters ann,bob,cleo --judges llm",
    "preferences": "preferences pairs.csv --human people --judge llm",
    "preferences-systems": "preferences arena.csv --human people --judge llm --systems a,b",
    "naive": "naive judged.csv --human passed --metrics judge",
    "naive-rated": "naive systems.csv --human mqm --adequate '<=0' --metrics comet,bleurt "
    "--rated 60",
    "stop": "stop random.csv --tolerance 0.5 --limits 0,25",
    "stop-hall": "stop random.csv --tolerance 0.8 --limits 0,25 --rule hall --metric comet",
    "compare": "compare systems.csv --human mqm",
    "compare-process": "compare systems.csv --human mqm --target process --unit document "
    "--correction fdr",
    "compare-shared": "compare shared.csv",
    "compare-raters": "compare raters.csv --human rater1,rater2,rater4",
    "plan": "plan --size 1418 --sd 3 --correlation 0.5 --half-width 0.3",
    "plan-difference": "plan --size 1418 --sd 2.5 --difference 0.4 --power 0.8",
    "plan-pilot": "plan --size 1418 --pilot random.csv --half-width 0.4",
    "plan-history": "plan --history demo-ende --half-width 0.5 --draws 20 "
    "--strategies random+mean,docs-sys+ridge",
    "plan-binary": "plan --alpha 0.6 --rho 0.8 --eta 0.7 --metric-ratings 2000 --half-width 0.05",
    "plan-split": "plan --alpha 0.6 --rho 0.8 --eta 0.7 --budget 500 --metric-cost 0.01",
    "simulate": "simulate demo-ende --strategies random+mean,docs-sys+cv-comet,metrics-prop+ridge "
    "--budgets 5%,20% --draws 8 --bounds hoeffding --limits 0,25",
    "reliability": "reliability systems.csv --score mqm --orders 3 --draws 40 "
    "--at 1,2,5,10,20,40 --half-width 0.5",
    "alpha": "alpha judged.csv --human passed --metric judge",
    "alpha-process": "alpha judged.csv --human passed --metric judge --target process "
    "--correction holm",
    "alpha-counts": "alpha --counts tp=60,fn=12,fp=9,tn=40,metric=700/1000",
    "alpha-cut": "alpha systems.csv --human mqm --metric comet --adequate '<=1' --threshold equal",
    "roc": "roc systems.csv --human mqm --adequate '<=1'",
    "reproduce-daniken": "reproduce daniken",
    "reproduce-saldias": "reproduce saldias --demo --draws 2 --budgets 10%,40% --no-incremental",
    "init": "init study data/pool.csv --strategy docs-prop+cv-comet --seed 5 --limits 0,25 "
    "--lower-is-better",
    "campaign-select": "select study --budget 40",
    "campaign-export": "export study -o tasks.csv",
    "campaign-rate": "rate tasks.csv",
    "campaign-import": "import study tasks.csv --by ann",
    "campaign-status": "status study",
    "campaign-estimate": "estimate study",
    "campaign-work": "work study",
    "campaign-settings": "settings study",
    "campaign-adjudicate": "adjudicate study --differ 5",
    "campaign-more": "select study --more 20",
    "campaign-status-more": "status study",
    "campaign-export-label-studio": "export study -o tasks.json --to label-studio --context 1",
    "campaign-report": "report study -o study.html --gaps at-random",
    "doctor-campaign": "doctor study",
    "demo": "demo --draws 20",
}

#: Steps that take seconds: compared by the slow tests.
SLOW = frozenset({"reproduce-daniken", "reproduce-saldias"})

#: Keys whose values tell the time, the version or the folder.
APART = frozenset({"version", "versions", "made", "begun", "date", "when", "seconds", "created"})


def run(slow: bool | None = None) -> dict[str, Any]:
    """Every step in a new folder: what each printed, without what differs from run to run.

    ``slow`` takes only the slow steps (True) or only the others (False).
    """
    found = {}
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        frame = demo_frame("ende")
        raters = [c for c in frame if c.startswith("rater")]
        frame["mqm"] = frame[raters].mean(axis=1)
        frame.drop(columns=raters).to_csv("systems.csv", index=False)
        frame.head(1500).to_csv("raters.csv", index=False)
        judged_frame().drop(columns="truth").to_csv("judged.csv", index=False)
        opinions()
        for step, line in STEPS.items():
            if slow is not None and slow != (step in SLOW):
                continue
            command, *words = shlex.split(line)
            if command == "rate":
                for sheet in words:
                    rate(Path(sheet), frame)
                continue
            done = CliRunner().invoke(app, [command, *words, "--json", "-q"])
            if done.exit_code == 2:  # a command that has no -q
                done = CliRunner().invoke(app, [command, *words, "--json"])
            assert done.exit_code in (0, 1), f"{line}: {done.output}{done.exception!r}"
            found[step] = plain(json.loads(done.stdout))
    return found


def opinions() -> None:
    """Tables of weeks that get worse, anchors, verdicts of three raters, and pairs."""
    rng = np.random.default_rng(11)
    day = np.repeat(np.arange(84), 20)
    good = rng.random(day.size) < np.where(day < 63, 0.88, 0.6)
    weeks = pd.DataFrame({"id": np.arange(day.size)})
    weeks["date"] = (pd.Timestamp("2026-01-05") + pd.to_timedelta(day, "D")).strftime("%Y-%m-%d")
    weeks["llm"] = np.clip(np.where(good, 0.8, 0.3) + rng.normal(0, 0.15, day.size), 0, 1).round(3)
    weeks["passed"] = np.where(rng.random(day.size) < 0.25, good, np.nan)
    weeks.to_csv("weeks.csv", index=False)
    weeks["llm"] = np.roll(weeks["llm"], 840)  # a judge that does not see what changes
    weeks.to_csv("stale.csv", index=False)
    people = np.tile(rng.random(50) < 0.8, 6).astype(int)
    week = np.repeat(np.arange(1, 7), 50)
    llm = people ^ (rng.random(300) < np.where(week < 4, 0.05, 0.5))
    ids = np.tile(np.arange(50), 6)
    pd.DataFrame({"id": ids, "week": week, "llm": llm, "people": people}).to_csv(
        "anchors.csv", index=False
    )
    truth = rng.random(150) < 0.7
    verdicts = {
        name: (truth ^ (rng.random(150) < error)).astype(int)
        for name, error in {"ann": 0.05, "bob": 0.1, "cleo": 0.25, "llm": 0.2}.items()
    }
    pd.DataFrame({"id": np.arange(150), **verdicts}).to_csv("verdicts.csv", index=False)
    best = rng.choice(["A", "tie", "B"], 240, p=[0.35, 0.2, 0.45])
    said = np.where(rng.random(240) < 0.7, best, rng.choice(["A", "B", "tie"], 240))
    pairs = {"people": np.where(rng.permutation(240) < 80, best, ""), "llm": said}
    pd.DataFrame(pairs).to_csv("pairs.csv", index=False)
    who = [rng.permutation(["new", "old", "plain"])[:2] for _ in range(240)]
    a, b = zip(*who, strict=True)
    pd.DataFrame({"a": a, "b": b, **pairs}).to_csv("arena.csv", index=False)


def rate(sheet: Path, frame: pd.DataFrame) -> None:
    """Fill in the column of scores: of the system alpha, or of whatever a shared sheet holds."""
    table = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    pool, gold = load_demo()
    scores = dict(zip(map(str, pool.ids), gold, strict=True))
    # Systems have no name on a shared sheet: a score that follows from id and place will do.
    table["score"] = [
        f"{scores[i.split(':')[0]] if i in scores else (7 * k) % 11 / 2:.6g}"
        for k, i in enumerate(table["id"])
    ]
    table.to_csv(sheet, index=False)


def plain(value: Any) -> Any:
    """Without what tells the time or the version."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k not in APART}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, str):
        value = re.sub(r"\bv:\d+\.\d+\.\d+\S*?(?=\||$)", "v:*", value)
        return re.sub(r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?\S*", "DATE", value)
    return value


def differences(found: Any, wanted: Any, where: str = "") -> list[str]:
    """Places where two results differ; numbers may differ by rounding."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        keys = [*wanted, *(k for k in found if k not in wanted)]
        gone = [f"{where}{k}: only in one" for k in keys if (k in wanted) != (k in found)]
        both = [k for k in keys if k in wanted and k in found]
        return gone + [d for k in both for d in differences(found[k], wanted[k], f"{where}{k}.")]
    if isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            return [f"{where}: {len(found)} values for {len(wanted)}"]
        pairs = enumerate(zip(found, wanted, strict=True))
        return [d for k, (f, w) in pairs for d in differences(f, w, f"{where}{k}.")]
    if isinstance(wanted, float) and isinstance(found, float | int):
        near = abs(found - wanted) <= 1e-12 + 1e-8 * abs(wanted)
        return [] if near else [f"{where}: {found!r} for {wanted!r}"]
    return [] if found == wanted else [f"{where}: {found!r} for {wanted!r}"]


def kept() -> dict[str, Any]:
    """The stored results, by step."""
    return {p.stem: json.loads(p.read_text(encoding="utf-8")) for p in FOLDER.glob("*.json")}


if __name__ == "__main__":
    results = run()
    if "--write" in sys.argv:
        FOLDER.mkdir(exist_ok=True)
        for name, result in results.items():
            text = json.dumps(result, indent=1, ensure_ascii=False)
            (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print("\n".join(differences(results, kept())) or "Nothing has changed.")
