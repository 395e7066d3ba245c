"""Records slopes, means, crossings, hinges and autocorrelation of curves, for crates/stats to agree with.

    pip install scipy && python3 make_curves.py > curves.json
"""

import json
from fractions import Fraction

import numpy
import scipy
from scipy import optimize, stats

random = numpy.random.default_rng(20261125)


def grow(levels, blocks, log_y, noise):
    return numpy.exp(log_y(numpy.log2(levels)) + random.normal(0, noise, (blocks, len(levels))))


def crossing(levels, first, second):
    """The last sign change of the median log ratio, by numpy.interp between the levels around it."""
    ratio = numpy.median(numpy.log(first / second), axis=0)
    changes = numpy.flatnonzero(numpy.sign(ratio[1:]) != numpy.sign(ratio[:-1]))
    if len(changes) == 0:
        return None
    ends = slice(changes[-1], changes[-1] + 2)
    order = numpy.argsort(ratio[ends])
    return float(numpy.exp(numpy.interp(0, ratio[ends][order], numpy.log(levels)[ends][order])))


def hinge(levels, values):
    """By lstsq for each place, the place by a grid and Brent's method from its best points."""
    x, y = numpy.log(levels), numpy.median(numpy.log(values), axis=0)

    def fit(at):
        columns = numpy.column_stack([numpy.ones_like(x), numpy.minimum(x - at, 0), numpy.maximum(x - at, 0)])
        found = numpy.linalg.lstsq(columns, y, rcond=None)[0]
        return ((columns @ found - y) ** 2).sum(), found

    grid = numpy.linspace(x[1], x[-2], 2001)
    best = grid[numpy.argmin([fit(at)[0] for at in grid])]
    step = grid[1] - grid[0]
    bounds = (max(best - step, x[1]), min(best + step, x[-2]))
    at = optimize.minimize_scalar(lambda at: fit(at)[0], bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    error, (_, before, after) = fit(at)
    return {"error": error, "before": before, "after": after}


def autocorrelation(series, lags):
    """By rational numbers: the mean that NumPy has of values far from 0 is off by as much as they differ."""
    exactly = [Fraction(value) for value in series.tolist()]
    away = [value - sum(exactly) / len(exactly) for value in exactly]
    squares = sum(value * value for value in away)
    by_lag = [float(sum(a * b for a, b in zip(away, away[k:])) / squares) for k in range(1, lags + 1)]
    n = len(series)
    statistic = n * (n + 2) * sum(r**2 / (n - k) for k, r in enumerate(by_lag, 1))
    return {"series": series.tolist(), "lags": lags, "by_lag": by_lag, "statistic": statistic,
            "p_value": float(stats.chi2.sf(statistic, lags))}


def case(levels, blocks, rises, noise):
    first = grow(levels, blocks, lambda x: 0.1 * numpy.minimum(x - x[0], rises), noise)
    second = grow(levels, blocks, lambda x: 0.05 * (x - x[0]) + 0.1, noise)
    slopes = [float(numpy.polyfit(numpy.log(levels), numpy.log(block), 1)[0]) for block in first]
    return {"levels": levels.tolist(), "first": first.tolist(), "second": second.tolist(), "slopes": slopes,
            "means": stats.gmean(first, axis=1).tolist(), "crossing": crossing(levels, first, second),
            "hinge": hinge(levels, first)}


def series():
    for n, lags in [(10, 1), (30, 2), (30, 5), (100, 10)]:
        noise = random.normal(50, 2, n)
        yield noise, lags
        yield noise + 0.7 * numpy.roll(noise, 1), lags
    for offset, step in [(1e9, 2.0**-20), (-1e6, 2.0**-30)]:
        yield offset + numpy.round(random.normal(0, 8, 200)) * step, 4


powers = 2.0 ** numpy.arange(9, 21)
decades = numpy.array([1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7])
print(json.dumps({
    "made_by": f"SciPy {scipy.__version__}, NumPy {numpy.__version__}",
    "cases": [case(powers, 10, 5, 0.03), case(powers, 9, 7.4, 0.05), case(decades, 6, 3, 0.02), case(powers, 2, 20, 0.01)],
    "series": [autocorrelation(values, lags) for values, lags in series()],
}).replace("}, {", "},\n{"))
