"""Simulates the table of `src/dip.rs`: quantiles of the dip of uniform values, times the root of n.

    pip install diptest && python3 make_dip_table.py

Made with diptest 0.12.0 and NumPy 2.4.6; a minute on one core.
"""

import diptest
import numpy

P_VALUES = [0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001]
SMALL = [(n, 200_000) for n in [4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30]]
LARGE = [(50, 100_000), (100, 100_000), (200, 60_000), (500, 40_000), (1000, 30_000), (5000, 10_000)]
TOGETHER = 2000

random = numpy.random.default_rng(20261121)


def dips(n, samples):
    for _ in range(samples // TOGETHER):
        for values in numpy.sort(random.random((TOGETHER, n)), axis=1):
            yield diptest.dipstat(values, sort_x=False)


for n, samples in SMALL + LARGE:
    scaled = numpy.fromiter(dips(n, samples), float) * numpy.sqrt(n)
    row = numpy.quantile(scaled, [1 - p for p in P_VALUES])
    print(f"    ({n:.1f}, [{', '.join(f'{value:.4f}' for value in row)}]),")
