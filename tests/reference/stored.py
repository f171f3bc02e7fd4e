"""A pool on disk without an engine: hashlib, sorting and loops in place of SQL."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from hashlib import md5
from math import floor, log2

import numpy as np
import pandas as pd

from fewgold.stored import StoredPool
from fewgold.stored.groups import Groups, Located, MergedGroups
from fewgold.stored.scan import Scan


def key(salt, value):
    return md5(f"{salt}:{value}".encode()).hexdigest()


def line_of(labels, salt):
    """Documents in the order in which they stand on the line."""
    return sorted(set(labels), key=lambda label: (key(salt, label)[:12], label))


def ranked(ids, salt, metrics=None):
    """Ids of a group in the order of their ranks: by metrics, then by chance."""
    return sorted(ids, key=lambda i: (metrics[i] if metrics else (), key(salt, i), i))


def cut_ranked(ids, salt, giant, metrics):
    """The same in a group of very many: by the ends of ids, or where these are alike by the md5."""
    for end in (lambda i: i[-4:], lambda i: key(salt, i)[:4]):
        parts: dict[str, list[str]] = {}
        for i in ids:
            parts.setdefault(end(i), []).append(i)
        if max(map(len, parts.values())) <= giant:
            break
    return [i for part in sorted(parts) for i in ranked(parts[part], salt, metrics)]


def cell(z, size, in_cell=250, most=16):
    half = 2 ** min(max(round(log2(size / in_cell)), 10), most) // 2
    return floor(half * (1.0 + z / (1.0 + abs(z))))


class PlainPool(StoredPool):
    """A pool on disk whose questions are answered from lists in memory."""

    def __init__(self, pool, giant=50_000):
        self._like = StoredPool.of(pool)
        self.engine, self.files = self._like.engine, []
        self._scan = PlainScan(self._like._scan, pool, giant)


class PlainScan(Scan):
    """Answers the questions of samplers from lists in memory.

    Samplers take it for a pool on disk. Ids must be text or whole numbers. Only the size comes from
    the engine.
    """

    def __init__(self, like, pool, giant):
        super().__init__(like.view)
        self._like, self.pool, self.giant = like, pool, giant
        self.where = {str(i): row for row, i in enumerate(pool.ids.tolist())}

    def values(self, column):
        if column == "document":
            return [str(d) for d in self.pool.documents.tolist()]
        return [str(v) for v in (self.pool.texts | {"system": self.pool.system})[column].tolist()]

    def label(self, column):
        return column

    def line(self, column, salt, positions, most=None):
        labels = self.values(column)
        sizes = {label: labels.count(label) for label in set(labels)}
        spots = [
            (label, sizes[label], offset)
            for label in line_of(labels, salt)
            if most is None or sizes[label] < most
            for offset in range(sizes[label])
        ]
        found = [spots[p] for p in positions.tolist()]
        return Located(
            np.array([f[0] for f in found], dtype=object),
            np.array([f[1] for f in found]),
            np.array([f[2] for f in found]),
        )

    def groups(self, column, least=0, *, detailed=False):
        labels = self.values(column)
        known = [v for v in sorted(set(labels)) if labels.count(v) >= least]
        sizes = np.array([labels.count(v) for v in known], dtype=np.int64)
        more = {}
        if detailed:
            more["sd"] = self._inside(labels, known, self.pool.composite())[1]
            if self.pool.cost is not None:
                more["cost"], more["cost_sd"] = self._inside(labels, known, self.pool.cost)
        return Groups(column, np.array(known, dtype=object), sizes, **more)

    @staticmethod
    def _inside(labels, known, values):
        own = [[x for v, x in zip(labels, values, strict=True) if v == k] for k in known]
        return np.array([np.mean(x) for x in own]), np.array([np.std(x) for x in own])

    def bins(self, metric, bins):
        names, weights = ([metric], np.ones(1)) if metric else self._like.composite_weights
        score = weights @ self.pool.standardised(names)
        cells = [cell(z, len(score)) for z in score.tolist()]
        known = sorted(set(cells))
        own = [cells.count(c) for c in known]
        into = [
            (sum(own[:k]) + own[k] - (own[k] + 1) // 2) * bins // len(cells)
            for k in range(len(own))
        ]
        self.cells = cells
        parts = Groups("cell", np.array(known), np.array(own))
        return MergedGroups(parts, np.unique(into, return_inverse=True)[1])

    def score_line(self):
        names = self.columns.numbers[: len(self.metrics) or 1]
        values = [*self.pool.metrics.values(), self.pool.spread, self.pool.cost]
        values = [v for v in values if v is not None]
        score = 0.0
        for k in range(len(names)):
            mean, slope = self.rounded(k)
            score = score + (values[k] - mean) * slope
        self.cells = [cell(z, len(score), 20, 22) for z in score.tolist()]
        counts = Counter(self.cells)
        known = sorted(counts)
        return Groups("cell", np.array(known), np.array([counts[c] for c in known]))

    def numbers(self, wanted, salt):
        columns = self.columns
        ranks = (*columns.numbers, *(["doc_"] if columns.document else []))
        wanted = replace(wanted, ranks=ranks)
        frame = self.rows(wanted, salt)
        if columns.document:
            frame["doc_"] = [str(d) for d in frame["doc_raw"]]
        return frame[list(ranks)], wanted

    def spread_in(self, merged):
        into = dict(zip(merged.parts.label.tolist(), merged.into.tolist(), strict=True))
        bins = [into[c] for c in self.cells]
        known = sorted(set(bins))
        sd = self._inside(bins, known, self.pool.composite())[1]
        cost = self.pool.cost
        return sd, None if cost is None else self._inside(bins, known, cost)[0]

    def rows(self, wanted, salt, order=None):
        ids = [str(i) for i in self.pool.ids.tolist()]
        if wanted.by == "'all'":
            of = ["all"] * len(ids)
        else:
            of = self.cells if wanted.by == "cell" else self.values(wanted.by)
        lines, members = {}, {}
        for i, own in zip(ids, of, strict=True):
            members.setdefault(own, []).append(i)
        for label, size in zip(wanted.label.tolist(), wanted.size.tolist(), strict=True):
            if label not in lines:
                assert len(members[label]) == size
                lines[label] = self._in_line(members[label], salt, order, wanted.ranks)
        pairs = zip(wanted.label.tolist(), wanted.rank.tolist(), strict=True)
        rows = [self.where[lines[label][rank]] for label, rank in pairs]
        pool, columns = self.pool, self.columns
        frame = {"id_raw": pool.ids[rows]}
        if pool.documents is not None:
            frame["doc_raw"] = pool.documents[rows]
        frame |= {f"m{k}_": v[rows] for k, v in enumerate(pool.metrics.values())}
        if pool.spread is not None:
            frame["spread_"] = pool.spread[rows]
        if pool.cost is not None:
            frame["cost_"] = pool.cost[rows]
        if pool.system is not None:
            frame["sys_"] = pool.system[rows]
        frame |= {f"t{k}_": pool.texts[t][rows] for k, t in enumerate(columns.texts)}
        return pd.DataFrame(frame)

    def _in_line(self, group, salt, order, ranks):
        if len(group) == 1:
            return group
        if order is not None:
            by = {"order_": range(len(self.where)), "m0_": self.pool.matrix()[0].tolist()}[order]
            return sorted(group, key=lambda i: (by[self.where[i]], i))
        values = [v.tolist() for v in self.pool.metrics.values()]
        if ranks is not None:  # and by all else that is known of candidates
            more = [v.tolist() for v in (self.pool.spread, self.pool.cost) if v is not None]
            values += more + ([self.values("document")] if "doc_" in ranks else [])
        scores = zip(*values, strict=True)
        metrics = dict.fromkeys(self.where, ())
        metrics |= dict(zip(self.where, scores, strict=False))
        if len(group) > self.giant:
            return cut_ranked(group, salt, self.giant, metrics)
        return ranked(group, salt, metrics)
