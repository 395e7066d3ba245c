"""Records tests, effects and power for crates/stats to agree with.

    pip install scipy statsmodels mpmath && python3 make_tests.py > tests.json

A case has what was called, its values (at most two sets), its options, and what SciPy or statsmodels
said, in the order that tests/agreement reads; of Hedges' g and Cliff's delta, which neither has with these
intervals, and of Mann-Whitney's U with ties where the ways to part the values are too many for SciPy, what the
formula comes to. Where that differs from mpmath at 40 digits by more than 1e-11 of itself, "exact" holds what
mpmath says. Where it is NaN or infinite, or an error was raised, it is null.
"""

import itertools
import json
import math
import warnings
from fractions import Fraction

import mpmath as mp
import numpy
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats import multitest, power, weightstats

from exact_tests import (
    exact_independent_t,
    exact_kendall,
    exact_mann_whitney,
    exact_mean_interval,
    exact_mean_t,
    exact_ratio,
    exact_spearman,
    exact_wilcoxon,
    exactly,
    independent,
    j,
    mean,
    mpf,
    noncentral_upper,
    noncentrality,
    quantile,
    squares,
    t_upper,
    tost_exact,
)

warnings.simplefilter("ignore")
numpy.seterr(all="ignore")
random = numpy.random.default_rng(20261121)
ALTERNATIVES = ["two-sided", "less", "greater"]
cases = []
# More ways to part values than these are not asked of SciPy, which goes through them one by one, and of one
# value through none.
MOST_PERMUTED = 100_000


def number(value):
    value = float(value)
    return value if math.isfinite(value) else None


def said(call):
    try:
        return [number(value) for value in call()]
    except (ValueError, ZeroDivisionError, FloatingPointError):
        return None


def add(what, sets, options, theirs, exact=None):
    case = {"what": what, "sets": [[float(v) for v in s] for s in sets], "options": options, "said": theirs}
    if exact is not None and theirs is not None:
        off = lambda a, e: a is None or abs(mp.mpf(a) - e) > abs(e) * mp.mpf("1e-11")
        if any(map(off, theirs, exact)):
            case["exact"] = [float(e) for e in exact]
    cases.append(case)


def wilcoxon(d, zeros, method, alternative):
    corrected = method == "corrected"
    how = {"corrected": "asymptotic", "permutation": stats.PermutationMethod(n_resamples=numpy.inf)}
    theirs = said(
        lambda: stats.wilcoxon(
            d, zero_method=zeros, correction=corrected, alternative=alternative, method=how.get(method, method)
        )
    )
    used = method
    if method == "auto":
        clean = all(d) and len(set(map(abs, d))) == len(d)
        used = "exact" if clean and len(d) <= 50 else "permutation" if len(d) <= 13 else "asymptotic"
    add("wilcoxon", [d], [alternative, zeros, method], theirs, exact_wilcoxon(d, zeros, used, alternative, corrected))


def mann_whitney(a, b, method, alternative):
    # Ours is exact wherever it can be; the rule of SciPy's "auto" is another.
    tied = len({*a, *b}) < len(a) + len(b)
    used = {"auto": "permutation" if tied else "exact"}.get(method, method)
    how = {
        "corrected": "asymptotic",
        "permutation": stats.PermutationMethod(n_resamples=numpy.inf),
    }
    exact = exact_mann_whitney(a, b, used, alternative)
    theirs = said(
        lambda: stats.mannwhitneyu(
            a, b, use_continuity=used != "asymptotic", alternative=alternative, method=how.get(used, used)
        )
        if used != "permutation" or 1 < min(len(a), len(b)) and math.comb(len(a) + len(b), len(a)) <= MOST_PERMUTED
        else exact
    )
    add("mann-whitney", [a, b], [alternative, method], theirs, exact)


def kendall(x, y, method, alternative):
    theirs = said(lambda: stats.kendalltau(x, y, method=method, alternative=alternative))
    add("kendall", [x, y], [alternative, method], theirs, exact_kendall(x, y, method, alternative))


def spearman(x, y, alternative):
    theirs = said(lambda: stats.spearmanr(x, y, alternative=alternative))
    add("spearman", [x, y], [alternative], theirs, exact_spearman(x, y, alternative))


def description(values):
    def call():
        low, middle, high = numpy.quantile(values, [0.25, 0.5, 0.75])
        geometric = stats.gmean(values) if min(values) > 0 else math.nan
        deviation = numpy.std(values, ddof=1)
        return numpy.mean(values), deviation, stats.variation(values, ddof=1), geometric, middle, (high - low) / 2

    v = exactly(values)
    exact = None
    if len(v) > 1 and min(v) > 0:
        sd = mp.sqrt(mpf(squares(v) / (len(v) - 1)))
        low, middle, high = (mpf(quantile(v, p)) for p in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)))
        m = mpf(mean(v))
        exact = [m, sd, sd / m, mp.exp(sum(mp.log(mpf(x)) for x in v) / len(v)), middle, (high - low) / 2]
    add("description", [values], [], said(call), exact)


def mean_interval(values, level):
    n = len(values)
    theirs = said(lambda: stats.t.interval(level, n - 1, loc=numpy.mean(values), scale=stats.sem(values)))
    add("mean-interval", [values], [level], theirs, exact_mean_interval(values, level))


def means(a, b, alternative):
    kind = dict(alternative=alternative)
    add("one-sample-t", [a], [alternative, 10.0], said(lambda: stats.ttest_1samp(a, 10.0, **kind)),
        exact_mean_t(a, 10, alternative))
    add("student-t", [a, b], [alternative], said(lambda: stats.ttest_ind(a, b, **kind)),
        exact_independent_t(a, b, True, alternative))
    add("welch-t", [a, b], [alternative], said(lambda: stats.ttest_ind(a, b, equal_var=False, **kind)),
        exact_independent_t(a, b, False, alternative) if min(len(a), len(b)) > 1 else None)
    if len(a) == len(b):
        add("paired-t", [a, b], [alternative], said(lambda: stats.ttest_rel(a, b, **kind)),
            exact_mean_t(numpy.subtract(a, b), 0, alternative))


def equivalence(a, b, low, high):
    def two(usevar):
        p, above, below = weightstats.ttost_ind(a, b, low, high, usevar=usevar)
        return p, above[1], below[1]

    def paired():
        p, above, below = weightstats.ttost_paired(numpy.array(a), numpy.array(b), low, high)
        return p, above[1], below[1]

    for usevar in ["pooled", "unequal"]:
        exact = tost_exact(*independent(a, b, usevar == "pooled"), low, high)
        add("tost", [a, b], [low, high, usevar], said(lambda: two(usevar)), [max(exact), *exact])
    if len(a) == len(b):
        d = exactly(numpy.subtract(a, b))
        error = mp.sqrt(mpf(squares(d) / (len(d) - 1) / len(d)))
        exact = tost_exact(mpf(mean(d)), error, mp.mpf(len(d) - 1), low, high)
        add("paired-tost", [a, b], [low, high], said(paired), [max(exact), *exact])


def wilcoxon_equivalence(d, low, high):
    def call():
        above = stats.wilcoxon(numpy.subtract(d, low), alternative="greater").pvalue
        below = stats.wilcoxon(numpy.subtract(d, high), alternative="less").pvalue
        return max(above, below), above, below

    add("wilcoxon-tost", [d], [low, high], said(call))


def hedges(what, sets, t, df, unit, level):
    tail = (1 - mp.mpf(level)) / 2
    exact = [j(df) * unit * x for x in (t, noncentrality(t, df, tail), noncentrality(t, df, 1 - tail))]
    add(what, sets, [level], [float(e) for e in exact])


def cliff(a, b, level):
    """Pair by pair, as the formula is written."""
    n, m = len(a), len(b)
    d = [[(x > y) - (x < y) for y in b] for x in a]
    delta = Fraction(sum(map(sum, d)), n * m)
    rows = sum((Fraction(sum(row), m) - delta) ** 2 for row in d)
    columns = sum((Fraction(sum(column), n) - delta) ** 2 for column in zip(*d))
    pairs = sum((x - delta) ** 2 for row in d for x in row)
    square = (m * m * rows + n * n * columns - pairs) / (n * m * (n - 1) * (m - 1))
    square = mpf(max(square, (1 - delta**2) / (n * m - 1)))
    z = mp.sqrt(2) * mp.erfinv(mp.mpf(level))
    d = mpf(delta)
    if abs(delta) == 1:
        k = min(n, m)
        ends = [d, d * (k - z * z) / (k + z * z)]
    else:
        reach = z * mp.sqrt(square) * mp.sqrt((1 - d * d) ** 2 + z * z * square)
        ends = [max(-1, min(1, (d - d**3 + s * reach) / (1 - d * d + z * z * square))) for s in (-1, 1)]
    add("cliff", [a, b], [level], [float(d), float(min(ends)), float(max(ends))])


def ratios(a, b, level):
    x, y = numpy.log(a), numpy.log(b)

    def paired():
        r = stats.ttest_rel(x, y).confidence_interval(level)
        return numpy.exp(numpy.mean(x - y)), numpy.exp(r.low), numpy.exp(r.high)

    def independent_():
        r = stats.ttest_ind(x, y, equal_var=False).confidence_interval(level)
        return numpy.exp(numpy.mean(x) - numpy.mean(y)), numpy.exp(r.low), numpy.exp(r.high)

    if len(a) == len(b):
        add("paired-ratio", [a, b], [level], said(paired), exact_ratio(a, b, True, level))
    add("ratio", [a, b], [level], said(independent_), exact_ratio(a, b, False, level))


def corrected(p):
    add("holm", [p], [], [float(v) for v in multitest.multipletests(p, method="holm")[1]])
    add("benjamini-hochberg", [p], [], [float(v) for v in stats.false_discovery_control(p)])


def powers(effect, n, alpha, alternative):
    name = {"two-sided": "two-sided", "less": "smaller", "greater": "larger"}[alternative]
    tail = mp.mpf(alpha) / (2 if alternative == "two-sided" else 1)
    for what, df, delta, solver in [
        ("paired-power", n - 1, mp.sqrt(n), lambda: power.TTestPower().power(effect, n, alpha, alternative=name)),
        ("two-sample-power", 2 * n - 2, mp.sqrt(mp.mpf(n) / 2),
         lambda: power.TTestIndPower().power(effect, n, alpha, alternative=name)),
    ]:
        with mp.workdps(25):
            start = stats.t.isf(float(tail), df)
            t = mp.findroot(lambda x: mp.log(t_upper(x, mp.mpf(df)) / tail), (start, start * 1.0001))
            upper = noncentral_upper(t, df, delta * effect)
            lower = noncentral_upper(t, df, -delta * effect)
        exact = {"less": lower, "greater": upper, "two-sided": upper + lower}[alternative]
        add(what, [], [effect, n, alpha, alternative], said(lambda: [solver()]), [exact])


def needed(effect, alpha, wanted, alternative):
    name = {"two-sided": "two-sided", "greater": "larger"}[alternative]
    for what, solver in [("paired-needed", power.TTestPower()), ("two-sample-needed", power.TTestIndPower())]:
        n = solver.solve_power(effect, alpha=alpha, power=wanted, alternative=name)
        n = math.ceil(float(numpy.ravel(n)[0]) - 1e-6)
        at = lambda k: solver.power(effect, k, alpha, alternative=name)
        assert at(n) >= wanted and (n == 2 or at(n - 1) < wanted), (what, effect, alpha, wanted, n)
        add(what, [], [effect, alpha, wanted, alternative], [float(n)])


def draw(n, centre, spread, digits):
    return [round(float(v), digits) for v in random.normal(centre, spread, n)]


def record_means():
    shapes = [(1, 1), (1, 4), (2, 2), (2, 5), (3, 3), (4, 4), (8, 8), (10, 10), (10, 13), (15, 15), (30, 30), (30, 12)]
    for (n, m), alternative, shift in itertools.product(shapes, ALTERNATIVES, [0.0, 3.0]):
        means(draw(n, 10 + shift, 1, 2), draw(m, 10, 2, 2), alternative)
    for alternative in ALTERNATIVES:
        means([1e9 + v for v in range(8)], [1e9 + 2 * v for v in range(8)], alternative)
        means([1e200, 2e200, 4e200], [3e200, 9e200, 1e200], alternative)
        means([1e-200, 2e-200, 4e-200], [3e-200, 9e-200, 1e-200], alternative)
        means([10.0] * 5, [10.0] * 5, alternative)
        means([12.0] * 5, [10.0] * 5, alternative)
        means([12.0, 12.0, 12.1], [1.0, 1.0, 1.0], alternative)
        means(draw(40, 50, 0.5, 2), draw(40, 10, 0.5, 2), alternative)


def record_ranks():
    for n in [1, 2, 3, 5, 8, 10, 13, 14, 20, 30]:
        for (digits, zeros), (method, alternative) in zip(
            itertools.cycle([(3, "wilcox"), (0, "wilcox"), (0, "pratt"), (0, "zsplit"), (1, "pratt")]),
            itertools.product(["auto", "exact", "asymptotic", "corrected"], ALTERNATIVES),
        ):
            wilcoxon(draw(n, 0.7, 2, digits), zeros, method, alternative)
        if n <= 10:
            for zeros, alternative in itertools.product(["wilcox", "pratt", "zsplit"], ALTERNATIVES):
                wilcoxon(draw(n, 0.7, 2, 0), zeros, "permutation", alternative)
    for alternative in ALTERNATIVES:
        for n in [50, 51, 80]:
            wilcoxon(draw(n, 0.7, 2, 3), "wilcox", "auto", alternative)
        wilcoxon(list(map(float, range(1, 31))), "wilcox", "auto", alternative)
        wilcoxon(draw(60, 9, 1, 1), "wilcox", "exact", alternative)
        for n, zeros in itertools.product([1, 6, 20], ["wilcox", "pratt", "zsplit"]):
            wilcoxon([0.0] * n, zeros, "auto", alternative)
            wilcoxon([0.0] * n, zeros, "asymptotic", alternative)
    shapes = [(1, 1), (1, 6), (2, 3), (5, 5), (8, 8), (8, 30), (9, 9), (10, 20), (30, 30)]
    for (n, m), digits, method, alternative in itertools.product(
        shapes, [0, 3], ["auto", "exact", "asymptotic", "corrected"], ALTERNATIVES
    ):
        if (n + digits) % 2 == ALTERNATIVES.index(alternative) % 2:
            mann_whitney(draw(n, 0.8, 2, digits), draw(m, 0, 2, digits), method, alternative)
    for alternative in ALTERNATIVES:
        for n, m in [(2, 2), (4, 5), (5, 6)]:
            mann_whitney(draw(n, 0.8, 2, 0), draw(m, 0, 2, 0), "permutation", alternative)
        mann_whitney(draw(30, 50, 2, 1), draw(30, 0, 2, 1), "exact", alternative)
        for method in ["auto", "asymptotic"]:
            mann_whitney([3.0] * 4, [3.0] * 5, method, alternative)


def record_correlations():
    for n, digits, alternative in itertools.product([1, 2, 3, 4, 6, 10, 17, 30, 33, 34, 40], [0, 3], ALTERNATIVES):
        x = draw(n, 0, 2, digits)
        y = [round(0.4 * v + float(e), digits) for v, e in zip(x, random.normal(0, 2, n))]
        for method in ["auto", "asymptotic"] + (["exact"] if digits == 3 and n > 20 else []):
            if n > 2 or method == "auto":
                kendall(x, y, method, alternative)
        spearman(x, y, alternative)
    for n, alternative in itertools.product([5, 20, 60], ALTERNATIVES):
        x = list(map(float, range(n)))
        for y in [x, x[::-1], [2.0] * n, [1.0, 0.0] + x[2:]]:
            kendall(x, y, "auto", alternative)
            spearman(x, y, alternative)


def record_effects():
    for n in [1, 2, 3, 5, 10, 30]:
        for digits in [0, 2]:
            description([abs(v) + 1 for v in draw(n, 20, 5, digits)])
    description([7.0] * 6)
    description([-1.0, 0.0, 1.0])
    for n, m, shift in [(2, 4, 1), (5, 5, 0.5), (10, 10, 0.3), (10, 10, 4), (30, 12, -1), (30, 30, 0.1)]:
        a, b = draw(n, 10 + shift, 1, 2), draw(m, 10, 1, 2)
        equivalence(a, b, -0.7, 0.9)
        equivalence(a, b, -3.0, 3.0)
        wilcoxon_equivalence(draw(n, shift, 1, 3), -0.5, 0.5)
        wilcoxon_equivalence(draw(n, shift, 1, 3), -2.0, 3.0)
        ratios(a, b, 0.95)
        ratios([v**3 for v in a], b, 0.9)
        for digits, level in [(0, 0.95), (2, 0.9)]:
            cliff([round(v, digits) for v in a], [round(v, digits) for v in b], level)
        apart, error, df = independent(a, b, True)
        for level in [0.9, 0.95]:
            hedges("hedges", [a, b], apart / error, int(df), mp.sqrt(mp.mpf(1) / n + mp.mpf(1) / m), level)
            if n == m:
                t = exact_mean_t(numpy.subtract(a, b), 0, "less")[0]
                hedges("paired-hedges", [a, b], t, n - 1, 1 / mp.sqrt(n), level)
    a, b = draw(10, 100, 0.2, 3), draw(10, 90, 0.2, 3)
    apart, error, df = independent(a, b, True)
    hedges("hedges", [a, b], apart / error, 18, mp.sqrt(mp.mpf(1) / 5), 0.95)
    for n in [1, 2, 5, 16, 16, 40]:
        corrected([round(float(v), 4) for v in random.beta(0.4, 2, n)])
    corrected([0.0, 1.0, 0.02, 0.02, 1e-30])
    for n, effect, alternative in itertools.product([2, 5, 10, 30, 100], [0.0, 0.3, 1.0, -0.8], ALTERNATIVES):
        powers(effect, n, 0.05, alternative)
    powers(2.0, 12, 0.001, "two-sided")
    for effect, wanted, alternative in itertools.product([0.2, 0.5, 1.2], [0.8, 0.95], ["two-sided", "greater"]):
        needed(effect, 0.05, wanted, alternative)


def record_offsets():
    """Values that differ by little beside what they have in common."""
    for offset, step in [(1e9, 2.0**-20), (-1e9, 2.0**-20), (2.0**50, 1.0), (1e6, 2.0**-30)]:
        near = [offset + k % 7 * step for k in range(1, 20)]
        other = [offset + k % 5 * step for k in range(12)]
        for alternative in ALTERNATIVES:
            means(near, other, alternative)
            means([k * step for k in range(8)], near, alternative)
        equivalence(near, other, -2 * step, 3 * step)
        mean_interval(near, 0.95)
        mean_interval(near[:3], 0.999999)
        if offset > 0:
            description(near)
            ratios(near, near[1:] + near[:1], 0.95)
            ratios(near, other, 0.9)
    for n in [2, 3, 10, 30]:
        mean_interval(draw(n, 20, 5, 2), 0.95)
    ratios([1.0, 2.0, 1.5], [4.0, 3.0, 5.0], 0.99)


def record_exact_ranks():
    for (n, m), digits, alternative in itertools.product([(9, 9), (10, 10), (12, 30), (60, 50)], [1, 3], ALTERNATIVES):
        mann_whitney(draw(n, 0.8, 2, digits), draw(m, 0, 2, digits), "auto", alternative)
    for alternative in ALTERNATIVES:
        mann_whitney(list(range(10, 20)), list(range(10)), "auto", alternative)
        mann_whitney([k + 0.5 for k in range(100)], list(range(30, 130)), "auto", alternative)


record_means()
record_ranks()
record_correlations()
record_effects()
record_offsets()
record_exact_ranks()
by = f"SciPy {scipy.__version__}, statsmodels {statsmodels.__version__}, mpmath {mp.__version__}"
lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
print(f'{{"made_by":"{by}","cases":[\n{lines}\n]}}')
