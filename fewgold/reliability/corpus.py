"""Scores of a whole set of segments, such as corpus BLEU, which are not means over segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewgold.common.arrays import FloatArray, IntArray
from fewgold.errors import DataError, FewgoldError, UnknownNameError


@dataclass(frozen=True, eq=False)
class CorpusScore:
    """A score that is computed on a set of segments as a whole.

    BLEU, NIST, chrF, TER and word error rates add up counts over all segments and compute one
    number from the sums. `reliability` recomputes such a score on every resample.

    Parameters
    ----------
    statistics : array, shape (rows, k)
        For each row of the table, numbers that add up over segments: matches, lengths, edits.
    function : callable
        Turns sums of shape (..., k) into scores of shape (...).

    Notes
    -----
    `CorpusScore.of_rows` accepts a score that is not a function of sums; `CorpusScore.sacrebleu`
    computes BLEU, chrF or TER from texts.

    Examples
    --------
    A word error rate is the sum of edits over the sum of reference words:

    >>> import numpy as np
    >>> wer = CorpusScore(np.array([[2, 10], [1, 20]]), lambda sums: sums[..., 0] / sums[..., 1])
    >>> wer.of([0, 1])
    0.1
    """

    statistics: FloatArray
    function: Callable[[FloatArray], Any]
    #: Set by `of_rows`: the score of a list of rows, which may repeat.
    rows_function: Callable[[IntArray], float] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        found = np.asarray(self.statistics, dtype=np.float64)
        if found.ndim != 2:
            raise DataError(
                f"statistics must have one row per row of the table and one column per count; got "
                f"the shape {found.shape}."
            )
        bad = np.flatnonzero(~np.isfinite(found).all(1))
        if bad.size:
            raise DataError(
                f"statistics must be finite numbers; row {bad[0]} (counted from 0) has "
                f"{found[bad[0]].tolist()}."
            )
        object.__setattr__(self, "statistics", found)

    @classmethod
    def of_rows(cls, function: Callable[[IntArray], float], rows: int) -> CorpusScore:
        """A score of any kind: ``function`` takes row numbers, which may repeat, and gives a score.

        It is called once for every resample, system and number of documents, and once per segment:
        about 1500 times for each cell of the paper's table. Prefer sums if there are any.
        """
        return cls(np.empty((rows, 0)), _no_sums, rows_function=function)

    @classmethod
    def sacrebleu(
        cls,
        outputs: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]],
        metric: str = "bleu",
        **options: Any,
    ) -> CorpusScore:
        """Corpus BLEU, chrF or TER by sacrebleu (extra ``fewgold[sacrebleu]``).

        Parameters
        ----------
        outputs
            The text of each row.
        references
            The reference of each row, or a list of references for each row.
        metric : {"bleu", "chrf", "ter"}
            Which score.
        options
            Options of sacrebleu's class, such as ``tokenize="zh"`` or ``word_order=2``.
        """
        known = {"bleu": "BLEU", "chrf": "CHRF", "ter": "TER"}
        if metric not in known:
            raise UnknownNameError("metric of sacrebleu", metric, list(known))
        try:
            from sacrebleu import metrics
        except ImportError:
            raise FewgoldError(
                "corpus scores of texts need sacrebleu. "
                "Install it with: pip install 'fewgold[sacrebleu]'."
            ) from None
        outputs = [outputs] if isinstance(outputs, str) else list(outputs)
        references = [references] if isinstance(references, str) else references
        several = [[r] if isinstance(r, str) else list(r) for r in references]
        if len(several) != len(outputs):
            raise DataError(
                f"expected a reference for each of {len(outputs)} outputs; got {len(several)}."
            )
        streams = [list(stream) for stream in zip(*several, strict=True)]
        scorer = getattr(metrics, known[metric])(**options)
        # sacrebleu's own bootstrap uses these sums; its public methods return them only for BLEU.
        counts = scorer._extract_corpus_statistics(outputs, streams)
        table = np.asarray(counts, dtype=np.float64)

        def score(sums: FloatArray) -> FloatArray:
            flat = sums.reshape(-1, sums.shape[-1])
            # Counts are whole numbers; rounding removes rounding errors of the sums.
            made = [scorer._compute_score_from_stats(np.rint(s).tolist()).score for s in flat]
            return np.array(made).reshape(sums.shape[:-1])

        return cls(table, score)

    @property
    def _rows(self) -> int:
        """The number of rows of its table."""
        return int(self.statistics.shape[0])

    def of(self, rows: ArrayLike) -> float:
        """The score of some rows, which may repeat."""
        chosen = np.asarray(rows, dtype=np.int64)
        return float(self._of_counts(np.ones((1, chosen.size)), chosen)[0])

    def _of_counts(self, counts: FloatArray, rows: IntArray) -> FloatArray:
        """Scores of samples with the given counts of each of ``rows``: (draws, n) -> (draws,)."""
        if self.rows_function is not None:
            times = counts.astype(np.int64)
            return np.array([self._checked(self.rows_function(np.repeat(rows, t))) for t in times])
        return self._scores(counts @ self.statistics[rows])

    def _pseudo_values(self, rows: IntArray) -> FloatArray:
        """Jackknife pseudo-value of each row for the score of ``rows``.

        n times the score of all rows minus n − 1 times that of the others, shifted so that their
        mean is the score; for a mean over rows these are the values themselves.
        """
        n, mine = rows.size, self.statistics[rows]
        if self.rows_function is not None:
            others = self._of_counts(1.0 - np.eye(n), rows)
        else:
            others = self._scores(mine.sum(0) - mine)
        return np.asarray(self.of(rows) - (n - 1) * (others - others.mean()))

    def _scores(self, sums: FloatArray) -> FloatArray:
        found = np.asarray(self.function(sums), dtype=np.float64)
        if found.shape != sums.shape[:-1]:
            raise FewgoldError(
                f"the function of a CorpusScore must turn sums of shape {sums.shape} into scores "
                f"of shape {sums.shape[:-1]}; it gave {found.shape}."
            )
        if not np.isfinite(found).all():
            raise DataError(
                "the score of some sample is not a finite number; its function must return a "
                "number for every sum of rows, however few."
            )
        return found

    @staticmethod
    def _checked(value: Any) -> float:
        if not np.isfinite(value):
            raise DataError(f"the score of some sample is {value!r}; expected a finite number.")
        return float(value)


def _no_sums(_sums: FloatArray) -> FloatArray:
    raise AssertionError("a score of rows has no sums")
