"""Records what SciPy and NumPy compute, for crates/stats to agree with.

    pip install scipy && python3 make.py > description.json
"""

import json

import numpy
import scipy

random = numpy.random.default_rng(20261120)


def inputs():
    for n in [1, 2, 3, 4, 5, 7, 8, 10, 30, 101]:
        yield random.normal(100, 15, n)
        yield random.lognormal(1, 1, n)
        yield numpy.round(random.normal(5, 1, n))  # ties
        yield numpy.full(n, 3.25)  # constant
        yield numpy.concatenate([random.normal(1, 0.1, n), random.normal(30, 1, n)])  # two modes


def case(values):
    q1, median, q3 = numpy.quantile(values, [0.25, 0.5, 0.75])
    return {
        "values": values.tolist(),
        "q1": q1,
        "median": median,
        "q3": q3,
        "p90": numpy.quantile(values, 0.9),
        "p999": numpy.quantile(values, 0.999),
    }


print(json.dumps({
    "made_by": f"SciPy {scipy.__version__}, NumPy {numpy.__version__}",
    "cases": [case(values) for values in inputs()],
}, indent=1))
