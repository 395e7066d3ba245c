"""Records Cliff's delta, by way of the Mann-Whitney U, for crates/stats to agree with.

    pip install scipy && python3 make_effect.py > effect.json
"""

import json

import numpy
import scipy
from scipy import stats

random = numpy.random.default_rng(20261121)


def cases():
    for n, m, shift in [(1, 1, 0), (5, 7, 0.5), (20, 20, 0.2), (30, 11, -2)]:
        yield random.normal(shift, 1, n), random.normal(0, 1, m)
        # with ties
        yield numpy.round(random.normal(shift, 2, n)), numpy.round(random.normal(0, 2, m))


def record(first, second):
    u = stats.mannwhitneyu(first, second).statistic
    delta = 2 * u / (len(first) * len(second)) - 1
    return {"first": first.tolist(), "second": second.tolist(), "delta": float(delta)}


print(
    json.dumps(
        {
            "made_by": f"SciPy {scipy.__version__}, NumPy {numpy.__version__}",
            "cases": [record(*case) for case in cases()],
        },
        indent=1,
    )
)
