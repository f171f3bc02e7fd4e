"""Which way common metrics point: +1 larger is better output, -1 larger is worse, 0 neither."""

from __future__ import annotations

from collections.abc import Mapping

from fewgold._arrays import FloatArray
from fewgold.tables._names import plain

# Looked up as a part of the plain column name, longest first, so that "characTER" and "metricX"
# are not taken for something else.
_LARGER_IS_BETTER = (
    "comet", "bleurt", "bleu", "chrf", "bertscore", "bartscore", "moverscore", "meteor", "rouge",
    "yisi", "prism", "xcomet", "cometkiwi", "kiwi", "unieval", "unite", "gemba", "factcc", "qags",
    "feqa", "summac", "alignscore", "sentsim", "nist", "parchrf", "parbleu", "esim", "swss",
)  # fmt: skip
_LARGER_IS_WORSE = ("metricx", "perplexity", "characterrate")
# Error rates: larger is worse, but often published negated, so that the sign of the values decides.
_ERROR_RATES = ("ter", "hter", "wer", "cer", "character", "parter", "eed", "bbter", "bbcharacter")
_COVARIATES = ("length", "words", "tokens", "chars", "characters", "sentences")


def known_orientation(name: str, values: FloatArray) -> int | None:
    """Orientation of a metric with a common name, else None (unknown)."""
    key = plain(name)
    if any(key == word or key.endswith(word) for word in _COVARIATES):
        return 0
    if key in _ERROR_RATES:
        if (values >= 0).all():
            return -1
        return 1 if (values <= 0).all() else None
    if any(word in key for word in _LARGER_IS_WORSE):
        return -1
    if any(word in key for word in _LARGER_IS_BETTER):
        return 1
    return None


def told_orientation(signs: Mapping[str, int], metrics: Mapping[str, FloatArray]) -> str:
    """Orientations that names do not tell, as ``--orientation`` takes them; empty if none."""
    own = {m: v for m, v in signs.items() if v != known_orientation(m, metrics[m])}
    return ",".join(f"{metric}={sign:+d}" for metric, sign in sorted(own.items()))
