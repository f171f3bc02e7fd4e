"""What a reader must know before using the number."""

from __future__ import annotations

from fewgold.reporting._phrases import counted, shorter
from fewgold.reporting._study import Study

_FEW = 16
_OFF = 3.5  # standard errors of a metric's mean in a plain random sample
_PULL = 0.5  # of the sum of squares, by one segment


def notes(study: Study) -> list[str]:
    """Notes of the estimate itself, then gaps, then what the diagnostics found."""
    found = [_sentence(note) for note in study.record["notes"]]
    found += _gaps(study)
    units = study.ratings.sample.design.units
    drawn = study.n if units is None else len(set(units.tolist()))
    rough = study.record["bound_kind"] == "approximate" and study.half_width is not None
    if rough and drawn < _FEW and not study.exact:
        what = counted(drawn, "rating" if units is None else "unit drawn as a whole")
        if units is not None and drawn != 1:
            what = f"{drawn} documents or stretches drawn as a whole"
        found.append(
            f"{what} hardly {'shows' if drawn == 1 else 'show'} how scores are spread: take the "
            "interval for a rough one."
        )
    pulls = study.pulls
    if pulls is not None and len(pulls) and study.n > 3 and float(pulls["share"][0]) > _PULL:
        found.append(
            f"One segment, {shorter(pulls['segment'][0])}, makes up "
            f"{pulls['share'][0]:.0%} of what the ratings vary by. Check its rating."
        )
    if len(study.likeness) and not study.by_class:
        row = study.likeness.iloc[int(study.likeness["chance"].abs().to_numpy().argmax())]
        if abs(row["chance"]) > _OFF:
            found.append(
                f"The sample's mean of {shorter(row['metric'])} is {abs(row['difference']):.2f} "
                f"standard deviations {'above' if row['difference'] > 0 else 'below'} the pool's, "
                "more than chance would do. Is it the sample that was drawn, and are all of its "
                "segments rated?"
            )
    return list(dict.fromkeys(found))


def _gaps(study: Study) -> list[str]:
    found = []
    if study.unrated:
        some = ", ".join(map(shorter, study.unrated[:5]))
        more = f" and {len(study.unrated) - 5} more" if len(study.unrated) > 5 else ""
        how = study.context.get("gaps") or (
            "The number stands for the pool only if they are missing for reasons that have nothing "
            "to do with their scores"
        )
        if study.ratings.warnings:  # the estimate itself says what became of them
            how = study.context.get("gaps") or ""
        count = counted(len(study.unrated), "sampled segment")
        has = "has" if len(study.unrated) == 1 else "have"
        found.append(f"{count} {has} no rating: {some}{more}. {_sentence(str(how))}".strip())
        worst = study.context.get("worst_case")
        if worst is not None:
            low, high = (study.shown(end) for end in worst)
            found.append(
                f"Whatever their scores are, the {study.level} interval is {low} to {high}."
            )
    if study.strays:
        found.append(
            f"{counted(study.strays, 'answer')} for segments that were never sampled "
            f"{'is' if study.strays == 1 else 'are'} kept apart and not in the number."
        )
    drawn = sum(int(wave.get("n") or 0) for wave in study.waves)
    if study.waves and drawn != study.n + len(study.unrated):
        found.append(
            f"The waves add up to {counted(drawn, 'segment')}, but {study.n} are rated and "
            f"{len(study.unrated)} listed as not rated."
        )
    return found


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
