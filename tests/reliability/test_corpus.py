"""Scores of whole sets of segments: computed anew on every resample."""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain
from math import exp, log, log2
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fewgold.cli import app
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.reliability import CorpusScore, documents_needed, reliability
from fewgold.reliability.bootstrap import document_means, segment_means

WORDS = ["the", "old", "cat", "sat", "on", "a", "mat", "and", "saw", "one", "dog", "run", "by"]


def texts(n: int, seed: int = 3) -> tuple[list[str], list[str]]:
    """References, and outputs in which some words are others."""
    rng = np.random.default_rng(seed)
    references = [rng.choice(WORDS, size=rng.integers(6, 14)).tolist() for _ in range(n)]
    outputs = [[w if rng.random() < 0.8 else str(rng.choice(WORDS)) for w in r] for r in references]
    return [" ".join(o) for o in outputs], [" ".join(r) for r in references]


def table(documents: int = 6, size: int = 5) -> pd.DataFrame:
    outputs, references = texts(documents * size)
    return pd.DataFrame({
        "document": np.repeat([f"d{k}" for k in range(documents)], size),
        "segment": [f"s{k}" for k in range(documents * size)],
        "output": outputs, "reference": references,
        "adequacy": np.random.default_rng(1).integers(1, 6, documents * size),
    })  # fmt: skip


def ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    words = text.split()
    return [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]


def nist(outputs: list[str], references: list[str], of: list[str]) -> float:
    """NIST with one reference (Doddington 2002), word for word; information from the texts `of`."""
    info = Counter(chain.from_iterable(ngrams(r, n) for r in of for n in range(1, 6)))
    total = sum(len(r.split()) for r in of)
    score = 0.0
    for n in range(1, 6):
        gained = found = 0.0
        for output, reference in zip(outputs, references, strict=True):
            mine, theirs = Counter(ngrams(output, n)), Counter(ngrams(reference, n))
            found += sum(mine.values())
            for gram in mine & theirs:
                before = total if n == 1 else info[gram[:-1]]
                gained += (mine & theirs)[gram] * log2(before / info[gram])
        score += gained / max(found, 1.0)
    ratio = sum(len(o.split()) for o in outputs) / sum(len(r.split()) for r in references)
    beta = log(0.5) / log(1.5) ** 2
    return score * exp(beta * log(min(1.0, ratio)) ** 2)


def nist_statistics(outputs: list[str], references: list[str]) -> np.ndarray:
    """Sums that NIST is made of: information and n-grams of five orders, and two lengths."""
    info = Counter(chain.from_iterable(ngrams(r, n) for r in references for n in range(1, 6)))
    total = sum(len(r.split()) for r in references)
    rows = []
    for output, reference in zip(outputs, references, strict=True):
        gained, found = [], []
        for n in range(1, 6):
            mine, theirs = Counter(ngrams(output, n)), Counter(ngrams(reference, n))
            both = mine & theirs
            gained.append(
                sum(c * log2((info[g[:-1]] if n > 1 else total) / info[g]) for g, c in both.items())
            )
            found.append(sum(mine.values()))
        rows.append([*gained, *found, len(output.split()), len(reference.split())])
    return np.array(rows, dtype=float)


def nist_of(sums: Any) -> Any:
    ratio = np.minimum(1.0, sums[..., 10] / sums[..., 11])
    penalty = np.exp(np.log(0.5) / np.log(1.5) ** 2 * np.log(ratio) ** 2)
    return (sums[..., :5] / np.maximum(sums[..., 5:10], 1)).sum(-1) * penalty


def test_nist_from_sums_is_nist() -> None:
    outputs, references = texts(20)
    score = CorpusScore(nist_statistics(outputs, references), nist_of)
    for rows in ([*range(20)], [0, 0, 3, 7, 7, 7]):
        some = [outputs[k] for k in rows], [references[k] for k in rows]
        assert score.of(rows) == pytest.approx(nist(*some, of=references), rel=1e-12)


def test_bleu_is_that_of_sacrebleu() -> None:
    bleu = pytest.importorskip("sacrebleu").metrics.BLEU()
    outputs, references = texts(20)
    score = CorpusScore.sacrebleu(outputs, references)
    for rows in ([*range(20)], [0, 0, 3, 7, 7, 7]):
        whole = bleu.corpus_score([outputs[k] for k in rows], [[references[k] for k in rows]])
        assert score.of(rows) == pytest.approx(whole.score, rel=1e-12)
    alone = CorpusScore.sacrebleu(outputs[0], references[0])
    assert alone.of([0]) == pytest.approx(score.of([0]), rel=1e-12)
    two = CorpusScore.sacrebleu(outputs, [[r, o] for r, o in zip(references, outputs, strict=True)])
    assert two.of(range(20)) == pytest.approx(100)
    for metric, name in (("chrf", "CHRF"), ("ter", "TER")):
        other = CorpusScore.sacrebleu(outputs, references, metric)
        scorer = getattr(pytest.importorskip("sacrebleu").metrics, name)()
        whole = scorer.corpus_score(outputs, [references]).score
        assert other.of(range(20)) == pytest.approx(whole, rel=1e-12)


def test_a_mean_as_a_score_of_whole_sets_is_the_mean() -> None:
    frame = table()
    ones = np.ones(len(frame))
    score = CorpusScore(
        np.column_stack([frame["adequacy"], ones]), lambda sums: sums[..., 0] / sums[..., 1]
    )
    rows = CorpusScore.of_rows(lambda k: float(frame["adequacy"].to_numpy()[k].mean()), len(frame))
    named = {"mean": frame["adequacy"], "sums": score, "rows": rows}
    for resample in ("segments", "documents"):
        found = reliability(
            frame, score=named, document="document", draws=40, resample=resample, rng=5
        )
        for name in ("mean", "sd", "low", "high", "first"):
            values = getattr(found, name)
            np.testing.assert_allclose(values[1], values[0], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(values[2], values[0], rtol=1e-9, atol=1e-12)
        effects = found._effects
        np.testing.assert_allclose(effects.icc[1:, 0], effects.icc[0, 0], rtol=1e-9)
    needed = documents_needed(frame, score=named, document="document", half_width=0.2).documents
    assert needed[0] == needed[1] == needed[2]


def test_each_resample_is_scored_as_a_whole() -> None:
    frame = table()
    outputs, references = frame["output"].tolist(), frame["reference"].tolist()
    score = CorpusScore(nist_statistics(outputs, references), nist_of)
    slow = CorpusScore.of_rows(
        lambda k: nist([outputs[j] for j in k], [references[j] for j in k], of=references),
        len(frame),
    )
    named = {"sums": score, "words": slow}
    found = reliability(frame, score=named, document="document", draws=20, at=[1, 3, 6], rng=2)
    np.testing.assert_allclose(found.sd[0], found.sd[1], rtol=1e-9)
    assert found.first[0, 0, 0, 1] == pytest.approx(
        nist(outputs[:15], references[:15], of=references), rel=1e-12
    )
    # By hand: the draws of the only order, as the seed has them.
    stream = np.random.default_rng(2).spawn(1)[0]
    made = []
    for n in (5, 15, 30):
        drawn = stream.integers(n, size=(20, n))
        made.append(np.std([score.of(rows) for rows in drawn], ddof=1))
    np.testing.assert_allclose(found.sd[0, 0, 0], made, rtol=1e-9)


def test_whole_documents_are_drawn_with_all_their_segments() -> None:
    sizes = np.array([2, 1, 3])
    score = CorpusScore(np.arange(1.0, 7)[:, None] ** 2, lambda sums: np.sqrt(sums[..., 0]))
    seen: list[Any] = []

    def scored(counts: Any) -> Any:
        seen.append(counts)
        return score._of_counts(np.repeat(counts, sizes, axis=1), np.arange(6))

    totals = np.array([[3.0, 3.0, 15.0]])
    found = document_means(totals, sizes, 50, np.random.default_rng(0), [scored])
    squares = np.array([1 + 4, 9, 16 + 25 + 36])
    np.testing.assert_allclose(found[:, 1], np.sqrt(np.vstack(seen) @ squares))
    assert np.vstack(seen).sum(1).tolist() == [2] * 50
    alone = document_means(totals[:, :1], sizes[:1], 4, np.random.default_rng(0), [scored])
    assert alone.shape == (4, 2) and np.isnan(alone).all()
    plain = segment_means(totals, 50, np.random.default_rng(0))
    both = segment_means(totals, 50, np.random.default_rng(0), [lambda c: c[:, 0]])
    np.testing.assert_array_equal(both[:, :1], plain)


def test_systems_meet_the_same_segments() -> None:
    frame = pd.concat([table().assign(system=name) for name in ("a", "b")], ignore_index=True)
    score = CorpusScore(nist_statistics(frame["output"].tolist(), frame["reference"].tolist()),
                        nist_of)  # fmt: skip
    found = reliability(
        frame.sample(frac=1, random_state=1), score={"nist": _shuffled(score, frame)},
        document="document", system="system", segment="segment", draws=30, rng=1,
    )  # fmt: skip
    np.testing.assert_allclose(found.sd[0, 0], found.sd[0, 1], rtol=1e-9)
    assert "Pairs of systems" in found.summary()


def _shuffled(score: CorpusScore, frame: pd.DataFrame) -> CorpusScore:
    order = frame.sample(frac=1, random_state=1).index.to_numpy()
    return CorpusScore(score.statistics[order], score.function)


def test_what_it_refuses() -> None:
    frame = table()
    good = np.ones((30, 1))
    with pytest.raises(DataError, match=r"one column per count; got the shape \(3,\)"):
        CorpusScore(np.ones(3), lambda sums: sums)
    with pytest.raises(DataError, match=r"row 1 .* has \[nan\]"):
        CorpusScore(np.array([[1.0], [np.nan]]), lambda sums: sums)
    with pytest.raises(FewgoldError, match="must turn sums of shape"):
        CorpusScore(good, lambda sums: sums).of([0])
    with pytest.raises(DataError, match="not a finite number"), np.errstate(invalid="ignore"):
        CorpusScore(good * 0, lambda sums: sums[..., 0] / sums[..., 0]).of([0])
    with pytest.raises(DataError, match="statistics of 3 rows; the table has 30"):
        few = CorpusScore(good[:3], lambda sums: sums[..., 0])
        reliability(frame, score={"few": few}, document="document")
    with pytest.raises(UnknownNameError, match="Known: bleu, chrf, ter"):
        CorpusScore.sacrebleu(["a"], ["b"], "rouge")
    pytest.importorskip("sacrebleu")
    with pytest.raises(DataError, match="a reference for each of 2 outputs; got 1"):
        CorpusScore.sacrebleu(["a", "b"], ["b"])


def test_command(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sacrebleu")
    monkeypatch.chdir(tmp_path)
    frame = table()
    frame.to_csv("t.csv", index=False)
    words = ["reliability", "t.csv", "--draws", "30", "--document", "document", "--orders", "file"]

    def run(*more: str, code: int = 0) -> Any:
        done = CliRunner().invoke(app, [*words, *more])
        assert done.exit_code == code, done.output
        return done

    alone = json.loads(run("--corpus", "bleu:output,reference", "--json").stdout)
    assert alone["scores"] == ["bleu"]
    both = run("--corpus", "chrf:output,reference", "--score", "adequacy", "--json")
    assert json.loads(both.stdout)["scores"] == ["adequacy", "chrf"]
    here = CorpusScore.sacrebleu(frame["output"].tolist(), frame["reference"].tolist())
    found = reliability(frame, score={"bleu": here}, document="document", draws=30, rng=0)
    assert alone["curves"][-1]["sd"] == pytest.approx(found.to_frame()["sd"].iloc[-1])
    assert "such as bleu:output,reference" in run("--corpus", "bleu", code=2).stderr
    assert "unknown column 'text'" in run("--corpus", "bleu:text,reference", code=3).stderr
    frame.assign(output=["", *frame["output"][1:]]).to_csv("t.csv", index=False)
    assert "no text in 1 row," in run("--corpus", "bleu:output,reference", code=3).stderr
