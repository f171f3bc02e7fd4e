"""Estimators and bounds of a simple random sample, in plain steps."""

from __future__ import annotations

import math

import numpy as np


def regression_estimate(y, x, pool_x):
    """Regression estimator (Cochran 1977, ch. 7): value and standard error with n - 1 - p left.

    ``x`` (n, p) at the rated segments, ``pool_x`` (N, p) everywhere. Residuals count by how much
    the estimate leans on their rating: g = 1 + n (X̄ − x̄)ᵀ S⁻¹ (x − x̄) (Särndal et al. 1992).
    """
    n, p = x.shape
    size = len(pool_x)
    design = np.column_stack([np.ones(n), x])
    coefficients, *_ = np.linalg.lstsq(design, y, rcond=None)
    residual = y - design @ coefficients
    value = y.mean() + (pool_x.mean(0) - x.mean(0)) @ coefficients[1:]
    own = x - x.mean(0)
    g = 1 + n * own @ np.linalg.solve(own.T @ own, pool_x.mean(0) - x.mean(0))
    assert abs((g * y).sum() / n - value) < 1e-9 * (1 + abs(value))  # g carries the whole estimate
    s2 = ((g * residual) ** 2).sum() / (n - 1 - p)
    return value, math.sqrt((1 - n / size) * s2 / n)


def printed_scalar(y, rows, pool_metric):
    """Eq. 3 as printed: x̄ - (1/n Σ x z) z̄ with z standardised over the pool."""
    mean = sum(pool_metric) / len(pool_metric)
    sd = math.sqrt(sum((m - mean) ** 2 for m in pool_metric) / len(pool_metric))
    z = [(pool_metric[i] - mean) / sd for i in rows]
    n = len(y)
    covariance = sum(a * b for a, b in zip(y, z, strict=True)) / n
    return sum(y) / n - covariance * sum(z) / n


def printed_multiple(y, rows, pool_metrics):
    """Eq. 4 with its transposes mended: x̄ - E[XZ]ᵀ (E ZZᵀ)⁻¹ Z̄; ``pool_metrics`` (N, p)."""
    z = (pool_metrics - pool_metrics.mean(0)) / pool_metrics.std(0)
    zz = sum(np.outer(row, row) for row in z) / len(z)
    xz = sum(a * z[i] for a, i in zip(y, rows, strict=True)) / len(y)
    return float(np.mean(y) - xz @ np.linalg.inv(zz) @ z[list(rows)].mean(0))


def knn_cross_fit(y, rows, pool_metrics, folds, k):
    """Difference estimate of a simple random sample with scikit-learn's neighbours.

    Each fold is predicted by the others. Given these, the fold is a random sample of the segments
    outside of them, so the mean prediction is taken there and counts for their share.
    """
    from sklearn.neighbors import KNeighborsRegressor

    z = (pool_metrics - pool_metrics.mean(0)) / pool_metrics.std(0)
    rows, size = np.asarray(rows), len(z)
    left, residual = np.empty(len(y)), np.empty(len(y))
    for fold in np.unique(folds):
        held = folds == fold
        train = rows[~held]
        model = KNeighborsRegressor(min(k, train.size)).fit(z[train], y[~held])
        outside = np.setdiff1d(np.arange(size), train)
        centre = model.predict(z[outside]).mean()
        gap = model.predict(z[rows[held]]) - centre
        left[held] = y[held] - outside.size / size * gap
        residual[held] = y[held] - gap
    return float(left.mean()), math.sqrt((1 - len(y) / size) * residual.var(ddof=1) / len(y))


def ridge_leave_one_out(y, x, penalty):
    """Sum of squared errors of predicting each rating by a ridge of the others."""
    from sklearn.linear_model import Ridge

    total = 0.0
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = Ridge(alpha=penalty, fit_intercept=True).fit(x[rest], y[rest])
        total += float(y[i] - model.predict(x[i : i + 1])[0]) ** 2
    return total


def ridge_averaged(y, x, pool_x, penalties):
    """Ridge slopes of penalties from p/3 on, weighted by PRESS^(-n/8), on a simple random sample.

    Returns slopes, value and standard error; the hat matrix is that of the averaged fit.
    """
    from sklearn.linear_model import Ridge

    n, size = len(y), len(pool_x)
    penalties = [penalty for penalty in penalties if 3 * penalty >= x.shape[1]]
    errors = np.array([ridge_leave_one_out(y, x, penalty) for penalty in penalties])
    share = (errors.min() / errors) ** (n / 8)
    share = share / share.sum()
    slopes = sum(s * Ridge(alpha=a).fit(x, y).coef_ for s, a in zip(share, penalties, strict=True))
    own, off = x - x.mean(0), x.mean(0) - pool_x.mean(0)
    inverse = sum(
        s * np.linalg.inv(own.T @ own + a * np.eye(x.shape[1]))
        for s, a in zip(share, penalties, strict=True)
    )
    left = y - (x - pool_x.mean(0)) @ slopes
    g = 1 - n * own @ inverse @ off
    leverage = np.diag(own @ inverse @ own.T)
    residuals = g * (left - left.mean()) / (1 - leverage)
    return slopes, left.mean(), math.sqrt((1 - n / size) / n * residuals.var(ddof=1))


def ridge_beside_weights(y, x, weights, influence, penalty):
    """Slopes of a weighted ridge with an intercept and the weight as regressors without penalty.

    And its squared errors of predicting each rating by the others, times the squared influence.
    """

    def fit(rows):
        table = np.column_stack([np.ones(len(rows)), weights[rows] / weights.mean(), x[rows]])
        heavy = table * influence[rows, None] ** 2
        added = penalty * np.diag([0.0, 0.0] + [1.0] * x.shape[1])
        return np.linalg.solve(heavy.T @ table + added, heavy.T @ y[rows])

    loss = 0.0
    for i in range(len(y)):
        found = fit(np.delete(np.arange(len(y)), i))
        predicted = found @ np.concatenate([[1.0, weights[i] / weights.mean()], x[i]])
        loss += (influence[i] * (y[i] - predicted)) ** 2
    return fit(np.arange(len(y)))[2:], loss


def ridge_signed(y, x, penalty, signs):
    """Ridge slopes with signs, as bounded least squares on augmented data; x, y centred."""
    from scipy.optimize import lsq_linear

    p = x.shape[1]
    a = np.vstack([x, math.sqrt(penalty) * np.eye(p)])
    b = np.concatenate([y, np.zeros(p)])
    low = np.where(np.asarray(signs) > 0, 0.0, -np.inf)
    high = np.where(np.asarray(signs) < 0, 0.0, np.inf)
    return lsq_linear(a, b, (low, high), tol=1e-14, lsmr_tol="auto", method="bvls").x


def hoeffding_half(span, n, size, confidence):
    """R √(k_n ln(2/δ)/(2n)), k_n = 1 - (n-1)/N."""
    k = 1 - (n - 1) / size
    return span * math.sqrt(k * math.log(2 / (1 - confidence)) / (2 * n))


def hoeffding_stratified_half(span, counts, sizes, confidence):
    """Strata are independent, so the exponents of their Serfling bounds add up.

    n(x̄ − μ) of those taken is −m(x̄ − μ) of the m left out: the better bound of both holds.
    """
    total = 0.0
    for n, size in zip(counts, sizes, strict=True):
        left = size - n
        taken = n * (1 - (n - 1) / size)
        others = left * (1 - (left - 1) / size)
        total += (size / sum(sizes)) ** 2 * min(taken, others) / n**2
    return span * math.sqrt(total * math.log(2 / (1 - confidence)) / 2)


def bernstein_half(y, span, confidence):
    """σ̂ √(2 ln(3/δ)/n) + 3 R ln(3/δ)/n with σ̂ the standard deviation."""
    n, mean = len(y), sum(y) / len(y)
    sd = math.sqrt(sum((v - mean) ** 2 for v in y) / n)
    log = math.log(3 / (1 - confidence))
    return sd * math.sqrt(2 * log / n) + 3 * span * log / n


def knn_predictions(y, rows, points, folds, k, weights):
    """What `KNN` foretells for each rating of one draw: centre, prediction, spread, share.

    ``points`` (N, p) are the metrics, ``folds`` the fold of each rating, None to hold none out.
    Nearest first, and the earlier row where two are equally far.
    """
    n, size = len(rows), len(points)
    equal = max(weights) - min(weights) <= 1e-12 * max(weights)
    centre, at, spread, share = [0.0] * n, [0.0] * n, [0.0] * n, [0.0] * n
    for fold in {0} if folds is None else set(folds):
        held = [i for i in range(n) if folds is None or folds[i] == fold]
        train = [i for i in range(n) if folds is None or folds[i] != fold]
        if not train:
            continue

        def predict(segment, train=train):
            def nearness(i):
                pairs = zip(points[segment], points[rows[i]], strict=True)
                return sum((a - b) ** 2 for a, b in pairs), rows[i]

            near = sorted(train, key=nearness)[:k]
            return sum(y[i] for i in near) / len(near)

        known = {rows[i] for i in train} if equal and folds is not None else set()
        everywhere = [predict(s) for s in range(size)]
        outside = [everywhere[s] for s in range(size) if s not in known]
        mean = sum(everywhere) / size
        for i in held:
            centre[i], at[i] = sum(outside) / len(outside), everywhere[rows[i]]
            spread[i] = math.sqrt(sum((v - mean) ** 2 for v in everywhere) / size)
            share[i] = len(outside) / size
    return centre, at, spread, share
