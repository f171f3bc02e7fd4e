"""A campaign as it is at one moment; what is costly is worked out once for everybody who looks."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from fewgold.bayes import roc_table
from fewgold.campaign import Campaign
from fewgold.errors import DataError, FewgoldError
from fewgold.web._drawing import DRAWING
from fewgold.web._site import Site

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.bayes import RocTable
    from fewgold.campaign._status import Status
    from fewgold.reporting._study import Study

T = TypeVar("T")
_STATES = 6  # shelves that are kept, two for each state of the campaign
_LOOKS = 500  # earlier estimates that are kept, which do not change any more
_PARTS = 200  # results that are kept of one state: cuts are the visitor's choice


class Shelf:
    """Results of one state of the campaign, each worked out once, by whoever comes first."""

    def __init__(self, most: int = _PARTS) -> None:
        self._lock = RLock()
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._most = most

    def get(self, name: Hashable, make: Callable[[], T]) -> T:
        """The result of that name; errors are not kept."""
        with self._lock:
            if name not in self._kept:
                self._kept[name] = make()
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
            return cast("T", self._kept[name])


class Store:
    """Shelves of the last few states of one campaign, and what no state changes any more."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._shelves: OrderedDict[Hashable, Shelf] = OrderedDict()
        self.past = Shelf(_LOOKS)
        #: Figures are drawn one at a time: how they look is a setting of the whole process.
        self.drawing = DRAWING

    def shelf(self, state: Hashable) -> Shelf:
        """The shelf of a state."""
        with self._lock:
            found = self._shelves.setdefault(state, Shelf())
            self._shelves.move_to_end(state)
            while len(self._shelves) > _STATES:
                self._shelves.popitem(last=False)
            return found


class View:
    """What pages show of a campaign; all of it is of the same moment."""

    def __init__(self, campaign: Campaign, store: Store) -> None:
        self.campaign = campaign
        self.store = store
        self.state = campaign.state()
        self.shelf = store.shelf((campaign.settings, self.state))
        #: A shelf of their own: who wants a number shall not wait for a figure.
        self.figures = store.shelf((campaign.settings, self.state, "figures"))

    @property
    def version(self) -> str:
        """A name of the state, for addresses."""
        return version(self.campaign)

    @property
    def status(self) -> Status:
        return self.shelf.get("status", self.campaign.status)

    @property
    def study(self) -> Study | None:
        """The study as the report has it, gaps as in the status; None while there is no number."""
        return self.shelf.get("study", self._study)

    def _study(self) -> Study | None:
        if self.status.estimate is None:
            return None
        return self.campaign.report("at-random").study

    @property
    def answers(self) -> pd.DataFrame:
        return self.shelf.get("answers", self.campaign.answers)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, in the order of the pool; pages name them by their place."""
        return list(self.campaign.pool.metrics)

    @property
    def scores(self) -> pd.DataFrame:
        """Every rated segment of the sample with its score and its metrics."""
        return self.shelf.get("scores", self._scores)

    def _scores(self) -> pd.DataFrame:
        import pandas as pd

        pool, sample, scores = self.campaign.pool, self.campaign.sample, self.campaign.scores()
        at = sample.indices[~np.isnan(scores)]
        columns: list[tuple[str, Any]] = [("segment", pool.ids[at])]
        if pool.documents is not None:
            columns.append(("document", pool.documents[at]))
        columns.append(("score", scores[~np.isnan(scores)]))
        columns += [(name, values[at]) for name, values in pool.metrics.items()]
        # By place: a metric may be called "score" too.
        frame = pd.DataFrame({k: values for k, (_, values) in enumerate(columns)})
        return frame.set_axis([name for name, _ in columns], axis=1)

    def roc(self, cut: str) -> RocTable:
        """ROC curves of all metrics; ``cut`` says which human scores are adequate."""
        return self.shelf.get(("roc", cut), lambda: self._roc(cut))

    def _roc(self, cut: str) -> RocTable:
        import pandas as pd

        if not self.status.rated:
            raise DataError("there are no ratings yet.")
        study = self.study
        if study is None:
            raise DataError("there is no estimate yet, and no ROC curve either.")
        pool, ratings = self.campaign.pool, study.ratings
        signs = dict(pool.orientation)
        names = [name for name in pool.metrics if signs.get(name) != 0]
        if not names:
            raise DataError("the pool has no metrics.")
        human = "score of people"
        while human in names:
            human += "_"
        at = ratings.sample.indices
        frame = pd.DataFrame({human: ratings.scores} | {n: pool.metrics[n][at] for n in names})
        return roc_table(
            frame, human=human, metrics=names, adequate=cut or None,
            orientation={n: signs[n] for n in names if signs.get(n)},
            confidence=self.campaign.settings.confidence,
        )  # fmt: skip

    def tried_roc(self, cut: str) -> tuple[RocTable | None, str]:
        """The curves, or None and why there are none."""
        try:
            return self.roc(cut), ""
        except FewgoldError as error:
            return None, str(error)


def version(campaign: Campaign) -> str:
    """A name of the campaign's state: the same as long as nothing changed."""
    told = repr((campaign.settings, campaign.state())).encode()
    return hashlib.sha256(told).hexdigest()[:16]


@contextmanager
def looking(site: Site, store: Store) -> Iterator[View]:
    """The campaign as of now, for as long as a page is made."""
    with site.open() as campaign, campaign.moment():
        yield View(campaign, store)
