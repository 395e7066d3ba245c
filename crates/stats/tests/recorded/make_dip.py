"""Records what the dip test of the package diptest says, for crates/stats to agree with.

    pip install diptest && python3 make_dip.py > dip.json
"""

import json
from importlib.metadata import version

import diptest
import numpy

random = numpy.random.default_rng(20261122)


def inputs():
    for n in [4, 5, 7, 10, 20, 33, 40, 150]:
        yield random.normal(100, 15, n)
        yield random.exponential(1, n)
        yield numpy.concatenate([random.normal(1, 0.05, n - n // 2), random.normal(3, 0.1, n // 2)])
        yield numpy.round(random.normal(20, 3, n))  # ties


def case(values):
    statistic, p_value = diptest.diptest(values)
    return {"values": values.tolist(), "statistic": statistic, "p_value": p_value}


print(json.dumps({
    "made_by": f"diptest {version('diptest')}, NumPy {numpy.__version__}",
    "cases": [case(values) for values in inputs()],
}, indent=None).replace("}, ", "},\n"))
