"""Records quantiles by type, spread, bootstrap intervals and trends, for crates/stats to agree with.

    pip install scipy && python3 make_inference.py > inference.json
"""

import json

import numpy
import scipy
from scipy import stats

random = numpy.random.default_rng(20261123)

METHODS = ["inverted_cdf", "hazen", "weibull", "linear", "median_unbiased"]
PROBABILITIES = [0.0, 0.01, 0.25, 0.5, 0.6, 0.99, 1.0]
RESAMPLES = 100_000


def inputs():
    for n in [2, 5, 8, 10, 30]:
        yield random.normal(100, 15, n)
        yield random.lognormal(1, 0.7, n)
        yield numpy.round(random.normal(50, 3, n))  # ties


def acceleration(values):
    """Of the mean, by the formula of Efron (1987), as SciPy has it within _bca_interval."""
    left_out = numpy.array([numpy.delete(values, i).mean() for i in range(len(values))])
    away = left_out.mean() - left_out
    squares = (away**2).sum()
    return 0.0 if squares == 0 else (away**3).sum() / (6 * squares**1.5)


def interval(values, method):
    found = stats.bootstrap(
        (values,), numpy.mean, n_resamples=RESAMPLES, method=method, rng=numpy.random.default_rng(1)
    ).confidence_interval
    return [found.low, found.high]


def trend(values):
    time = numpy.arange(len(values))
    kendall = stats.kendalltau(time, values, method="asymptotic")
    slope = stats.theilslopes(values, time).slope
    return {"tau": kendall.statistic, "p_value": kendall.pvalue,
            "change": slope * (len(values) - 1) / numpy.median(values)}


def case(values):
    long_enough = len(values) >= 8
    return {
        "values": values.tolist(),
        "quantiles": [numpy.quantile(values, PROBABILITIES, method=name).tolist() for name in METHODS],
        "iqr": stats.iqr(values),
        "mad": stats.median_abs_deviation(values),
        "acceleration": acceleration(values),
        "percentile": interval(values, "percentile") if long_enough else None,
        "bca": interval(values, "BCa") if long_enough else None,
        "trend": trend(values) if long_enough else None,
    }


print(json.dumps({
    "made_by": f"SciPy {scipy.__version__}, NumPy {numpy.__version__}",
    "methods": METHODS,
    "probabilities": PROBABILITIES,
    "cases": [case(values) for values in inputs()],
}).replace("}, {\"values", "},\n{\"values"))
