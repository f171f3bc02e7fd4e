"""Several criteria in a campaign: stored, exported, imported and estimated side by side."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fewgold import formats
from fewgold.campaign import Campaign
from fewgold.cli import app
from fewgold.common.text import plain_value
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.formats import Rating
from fewgold.judge import assess
from fewgold.pool import Pool

CRITERIA = ("fluency:1-5:higher", "adequacy:0-100:higher")


def told(id: str) -> dict[str, float]:
    return {"fluency": 1.0 + int(id) % 5, "adequacy": float((int(id) * 37) % 101)}


def rating(id: str, rater: str = "ann", **scores: float) -> Rating:
    return Rating(id, rater=rater, scores=scores or told(id))


@pytest.fixture
def study(tmp_path: Path, pool: Pool) -> Campaign:
    made = Campaign.create(tmp_path / "study", pool, seed=4, criteria=CRITERIA)
    made.select(20)
    return made


def rated(study: Campaign) -> Campaign:
    study.add(rating(i) for i in study.waves[0].ids)
    return study


def test_the_first_criterion_leads(study: Campaign) -> None:
    assert study.settings.limits == (1, 5) and study.settings.higher_is_better
    with Campaign(study.path) as again:
        assert [c.spelled for c in again.settings.criteria] == list(CRITERIA)
    with pytest.raises(FewgoldError, match="criteria cannot be changed"):
        study.change(criteria=())
    with pytest.raises(FewgoldError, match="fluency:1-5"):
        study.change(limits=(0, 100))


def test_criteria_have_names_of_their_own(tmp_path: Path, pool: Pool) -> None:
    for wrong, why in (("score:1-5", "cannot be called 'score'"), ("a,a", "is given twice")):
        with pytest.raises(FewgoldError, match=why):
            Campaign.create(tmp_path / "x", pool, criteria=wrong.split(","))


def test_estimates_are_those_of_each_criterion_alone(study: Campaign) -> None:
    found = rated(study).estimates()
    for name in ("fluency", "adequacy"):
        alone = study.estimate(criterion=name)
        assert alone.value == found[name].value
        scores = np.array([told(i)[name] for i in study.sample.ids.tolist()])
        assert np.array_equal(study.scores(criterion=name), scores)
        assert alone.ratings.limits == study.settings.criterion(name).limits
    assert study.estimate().value == found["fluency"].value
    with pytest.raises(UnknownNameError, match="flow"):
        study.estimate(criterion="flow")


def test_gaps_are_those_of_each_criterion(study: Campaign) -> None:
    ids = study.waves[0].ids
    study.add([rating(ids[0], fluency=3.0), rating(ids[1], adequacy=50.0), rating(ids[2])])
    status = study.status()
    assert [row["rated"] for row in status.criteria] == [2, 2]
    # Whoever lacks one score is still to be rated, and counts for what is there.
    assert ids[2] not in status.unrated and {ids[0], ids[1]} <= set(status.unrated)
    assert len(study.tasks("unrated").to_rate) == 19
    assert len(study.tasks("incomplete").to_rate) == 19
    with pytest.raises(DataError, match="fluency: "):
        study.estimates()
    # The rest comes later, in an answer of its own.
    study.add([rating(ids[0], adequacy=10.0), rating(ids[1], fluency=2.0)])
    assert study.scores(criterion="adequacy")[list(study.sample.ids).index(ids[0])] == 10
    assert len(study.tasks("incomplete").to_rate) == 17


def test_answers_that_do_not_fit_are_kept_with_the_reason(study: Campaign) -> None:
    one, two, three, four = study.waves[0].ids[:4]
    receipt = study.add([
        rating(one, fluency=3.0, adequacy=101.0), rating(two, fluency=3.0, grammar=1.0),
        Rating(three, 3.0, "ann"), rating(four),
    ])  # fmt: skip
    assert (receipt.stored, receipt.rejected) == (1, 3)
    why = " ".join(study.store.rejected()["why"])
    assert "101 of adequacy is outside 0 to 100" in why
    assert "grammar is not among the criteria" in why
    assert "no scores for fluency, adequacy" in why


def test_a_single_score_takes_no_criteria(campaign: Campaign) -> None:
    campaign.select(5)
    receipt = campaign.add([rating(campaign.waves[0].ids[0])])
    assert receipt.rejected == 1 and "has no criteria" in campaign.store.rejected()["why"][0]
    with pytest.raises(FewgoldError, match="single score"):
        campaign.estimates()


def test_an_answer_with_other_scores_is_another_answer(study: Campaign) -> None:
    (one,) = study.waves[0].ids[:1]
    assert study.add([rating(one)]).stored == 1
    assert study.add([rating(one)]).known == 1
    changed = told(one) | {"adequacy": 1.0}
    assert study.add([rating(one, **changed)]).stored == 1
    assert study.status().changed == 1
    assert study.scores(criterion="adequacy")[list(study.sample.ids).index(one)] == 1


TOOLS = {
    "csv": "t.csv", "tsv": "t.tsv", "jsonl": "t.jsonl", "label-studio": "t.json",
    "label-studio-csv": "t.csv", "argilla": "t.json", "potato": "t.jsonl",
}  # fmt: skip


@pytest.mark.parametrize("name", TOOLS)
def test_answers_go_to_tools_and_come_back(
    study: Campaign, tmp_path: Path, pool: Pool, name: str
) -> None:
    rated(study)
    place, form = tmp_path / TOOLS[name], formats.get(name)
    form.write_ratings(study.tasks("all"), study.store.rated(), place)
    with Campaign.create(tmp_path / "other", pool, seed=4, criteria=CRITERIA) as other:
        other.select(20)
        receipt = other.import_file(place)
        assert (receipt.stored, receipt.rejected) == (20, 0), receipt
        for criterion in ("fluency", "adequacy"):
            assert np.array_equal(other.scores(criterion=criterion),
                                  study.scores(criterion=criterion))  # fmt: skip
        assert {r.rater for r in other.store.rated()} == {"ann"}


def test_a_spreadsheet_has_a_column_for_each(study: Campaign, tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    for suffix in (".csv", ".xlsx"):
        place = tmp_path / f"to_rate{suffix}"
        formats.get(suffix[1:]).write_tasks(study.tasks("all", context=1), place)
        read = pd.read_csv if suffix == ".csv" else pd.read_excel
        sheet = read(place, dtype=object)
        tail = ["rate", "fluency", "adequacy", "rater", "comment", "key"]
        assert list(sheet.columns)[-6:] == tail
        wanted = sheet["rate"] == "yes"
        sheet.loc[wanted, "fluency"] = 4
        sheet.loc[wanted.to_numpy().nonzero()[0][1:], "adequacy"] = 70
        read_back = tmp_path / f"rated{suffix}"
        (sheet.to_csv if suffix == ".csv" else sheet.to_excel)(read_back, index=False)
        receipt = study.import_file(read_back, by=suffix)
        assert (receipt.stored, receipt.rejected, receipt.blank) == (20, 0, 0)
    answers = study.answers()
    assert answers["fluency"].notna().all() and answers["adequacy"].isna().sum() == 2


def test_columns_of_other_names_and_bad_cells(study: Campaign, tmp_path: Path) -> None:
    ids = study.waves[0].ids[:3]
    place = tmp_path / "answers.csv"
    pd.DataFrame({"id": ids, "F": [3, "x", 5], "A": [10, 20, None]}).to_csv(place, index=False)
    receipt = study.import_file(place, names=formats.Names(score="F,A"))
    assert (receipt.rows, receipt.stored, receipt.rejected) == (3, 3, 1)
    assert "fluency: " in receipt.refused[0].why
    scores = [r.scores for r in study.store.rated()]
    wanted = [{"fluency": 3.0, "adequacy": 10.0}, {"adequacy": 20.0}, {"fluency": 5.0}]
    assert sorted(map(json.dumps, scores)) == sorted(map(json.dumps, wanted))
    with pytest.raises(DataError, match="names 1 columns, but there are 2"):
        study.import_file(place, names=formats.Names(score="F"))


def test_one_criterion_may_come_alone(study: Campaign, tmp_path: Path) -> None:
    place = tmp_path / "adequacy.csv"
    ids = study.waves[0].ids
    pd.DataFrame({"id": ids, "adequacy": 50.0}).to_csv(place, index=False)
    receipt = study.import_file(place)
    assert receipt.stored == 20 and "no scores of fluency" in receipt.notes[0]
    assert np.isnan(study.scores()).all()


def test_formats_with_one_score_say_so(study: Campaign) -> None:
    with pytest.raises(DataError, match=r"label-studio, .*csv"):
        formats.check_fits(formats.get("appraise"), study.tasks())


def test_categories_of_mqm_are_criteria(tmp_path: Path, pool: Pool) -> None:
    with Campaign.create(
        tmp_path / "study", pool, seed=4, criteria=["Accuracy:mqm", "Fluency:mqm"]
    ) as study:
        study.select(3)
        one, two, three = study.waves[0].ids
        errors = [
            (one, "Accuracy/Omission", "Major"), (one, "Fluency/Punctuation", "Minor"),
            (one, "Fluency/Grammar", "Minor"), (two, "No-error", "No-error"),
            (three, "Non-translation!", "Major"),
        ]  # fmt: skip
        lines = ["system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"]
        lines += [f"s\td\t1\t{i}\tann\tsource\ttarget\t{c}\t{s}" for i, c, s in errors]
        place = tmp_path / "mqm.tsv"
        place.write_text("\n".join(lines) + "\n")
        assert study.import_file(place).stored == 3
        found = {r.details["segment"]: dict(r.scores) for r in study.store.rated()}
        assert found[one] == {"Accuracy": 5.0, "Fluency": 1.1}
        assert found[two] == {"Accuracy": 0.0, "Fluency": 0.0}
        assert found[three] == {"Accuracy": 25.0, "Fluency": 25.0}


def test_several_systems_on_several_criteria(tmp_path: Path, pool: Pool) -> None:
    outputs = Pool(
        ids=np.array([f"{s}:{i}" for s in "AB" for i in pool.ids.tolist()]),
        system=np.repeat(["A", "B"], len(pool)),
        metrics={"comet": np.tile(pool.metrics["comet"], 2)},
        texts={"output": np.tile(pool.texts["output"], 2)},
    )
    with Campaign.create(
        tmp_path / "study", outputs, seed=4, criteria=CRITERIA, segments=np.tile(pool.ids, 2)
    ) as study:
        study.select(20)
        (wave,) = study.waves
        better = {"A": 0.0, "B": 1.0}
        rng = np.random.default_rng(1)
        study.add(
            Rating(id, rater="ann", scores={
                "fluency": float(rng.integers(1, 5) + better[id[0]]),
                "adequacy": float(rng.integers(40, 60) - 30 * better[id[0]]),
            })
            for id in wave.ids
        )  # fmt: skip
        assert study.unrated == ()
        best = {c: study.compare(criterion=c).ranking()["system"].iloc[0]
                for c in ("fluency", "adequacy")}  # fmt: skip
        assert best == {"fluency": "B", "adequacy": "A"}
        assert study.of("A").estimates()["adequacy"].value == pytest.approx(50, abs=5)


def test_a_judge_is_compared_with_any_criterion(study: Campaign) -> None:
    rated(study)
    run = CliRunner()
    made = json.loads(
        run.invoke(app, ["judge", str(study.path), "--human", "adequacy", "--json"]).stdout
    )
    assert (
        made["judges"]
        == json.loads(
            json.dumps(plain_value(assess(study.ratings(criterion="adequacy")).to_dict()))
        )["judges"]
    )
    plain = run.invoke(app, ["judge", str(study.path)])
    assert "people: the scores of fluency; --human names another criterion" in plain.output
    wrong = run.invoke(app, ["judge", str(study.path), "--human", "style"])
    assert wrong.exit_code == 3 and "Known: adequacy, fluency" in wrong.output
