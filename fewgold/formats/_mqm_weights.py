"""What errors weigh in MQM (Multidimensional Quality Metrics)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

NO_ERROR = "no-error"


def plain_severity(text: str) -> str:
    """A severity as tools spell it, in one spelling.

    >>> plain_severity("No_Error"), plain_severity(" Major")
    ('no-error', 'major')
    """
    return "-".join(text.strip().lower().replace("_", " ").split())


@dataclass(frozen=True)
class MqmWeights:
    """Weights of Freitag et al. (2021), Table 4; other schemes set others.

    The sum over a segment is capped at 25, the weight of five major errors, which is the most that
    raters of that study could mark.

    Parameters
    ----------
    major, minor, neutral
        Weights of the severities.
    critical
        Weight of critical errors, which some newer campaigns mark. There is no default: some
        weigh them 10, some 25, and Google's script does not know them. While it is None, files
        that have them are told about.
    punctuation
        Weight of minor errors of the category Fluency/Punctuation.
    non_translation
        Weight of the category Non-translation, whatever its severity.
    cap
        The most that a segment can get, or None.

    References
    ----------
    Freitag et al. (2021). Experts, errors, and context: a large-scale study of human
    evaluation for machine translation. TACL 9.

    Examples
    --------
    >>> MqmWeights().score([("Accuracy/Omission", "Major"), ("Fluency/Punctuation", "Minor")])
    5.1
    """

    major: float = 5.0
    minor: float = 1.0
    neutral: float = 0.0
    critical: float | None = None
    punctuation: float = 0.1
    non_translation: float = 25.0
    cap: float | None = 25.0

    @cached_property
    def severities(self) -> dict[str, float]:
        """Weights by severity."""
        known = {"major": self.major, "minor": self.minor, "neutral": self.neutral, NO_ERROR: 0.0}
        return known if self.critical is None else {**known, "critical": self.critical}

    def unknown(self, severity: str) -> str:
        """What is wrong with a severity, as a sentence; empty if it is known."""
        plain = plain_severity(severity)
        if plain in self.severities:
            return ""
        why = f"expected the severities {', '.join(self.severities)}, got {plain!r}."
        if plain == "critical":
            why += (
                " Campaigns weigh critical errors differently (10 or 25): say which with "
                "MqmWeights(critical=...)."
            )
        return why

    def weight(self, category: str, severity: str) -> float:
        """What one error weighs."""
        kind, plain = category.strip().lower(), plain_severity(severity)
        # Written "Non-translation" and "Non-translation!"; some files call it neutral.
        if kind.startswith("non-translation"):
            return self.non_translation
        if plain == "minor" and kind == "fluency/punctuation":
            return self.punctuation
        return self.severities[plain]

    def score(self, errors: Iterable[tuple[str, str]]) -> float:
        """The score of a segment from the category and severity of each error in it."""
        total = sum((self.weight(category, severity) for category, severity in errors), 0.0)
        # Rounding removes the noise of adding tenths.
        return round(total if self.cap is None else min(total, self.cap), 6)
