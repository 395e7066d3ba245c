"""The tests that make_tests.py records, by rational numbers and mpmath at 40 digits, as their formulas are written."""

from fractions import Fraction

import mpmath as mp
from scipy import stats

mp.mp.dps = 40


def exactly(values):
    """Values as rational numbers: what a double holds, not what was typed."""
    return [Fraction(float(v)) for v in values]


def mpf(fraction):
    return mp.mpf(fraction.numerator) / fraction.denominator


def mean(values):
    return sum(values) / len(values)


def squares(values):
    m = mean(values)
    return sum((v - m) ** 2 for v in values)


def t_upper(t, df):
    if mp.isinf(t):
        return mp.mpf(0) if t > 0 else mp.mpf(1)
    if abs(t) < 1:
        inner = mp.betainc(mp.mpf(1) / 2, df / 2, 0, t * t / (df + t * t), regularized=True) / 2
        return mp.mpf(1) / 2 - (inner if t > 0 else -inner)
    outer = mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return outer if t > 0 else 1 - outer


def normal_upper(z):
    return mp.erfc(z / mp.sqrt(2)) / 2


def p_of(upper, lower, alternative):
    p = {"less": lower, "greater": upper, "two-sided": 2 * min(upper, lower)}[alternative]
    return min(p, mp.mpf(1))


def t_and_p(t, df, alternative):
    return [t, p_of(t_upper(t, df), t_upper(-t, df), alternative)]


def exact_mean_t(values, centre, alternative):
    values = exactly(values)
    n, ss = len(values), squares(values)
    if n < 2 or ss == 0:
        return None
    t = mpf(mean(values) - centre) / mp.sqrt(mpf(ss / (n - 1) / n))
    return t_and_p(t, mp.mpf(n - 1), alternative)


def independent(a, b, equal):
    """Difference, standard error and degrees of freedom."""
    a, b = exactly(a), exactly(b)
    n, m = len(a), len(b)
    if equal:
        df = Fraction(n + m - 2)
        square = (squares(a) + squares(b)) / df * (Fraction(1, n) + Fraction(1, m))
    else:
        v, w = squares(a) / (n - 1) / n, squares(b) / (m - 1) / m
        square = v + w
        df = square**2 / (v**2 / (n - 1) + w**2 / (m - 1))
    return mpf(mean(a) - mean(b)), mp.sqrt(mpf(square)), mpf(df)


def exact_independent_t(a, b, equal, alternative):
    try:
        apart, error, df = independent(a, b, equal)
        return t_and_p(apart / error, df, alternative)
    except ZeroDivisionError:
        return None


def t_quantile(tail, df):
    """The t that is exceeded with probability tail, below one half."""
    start = mp.mpf(stats.t.isf(float(tail), float(df)))
    return mp.findroot(lambda t: mp.log(t_upper(t, df) / tail), (start, start * (1 + mp.mpf("1e-6"))))


def exact_mean_interval(values, level):
    values = exactly(values)
    n = len(values)
    reach = t_quantile((1 - mp.mpf(level)) / 2, mp.mpf(n - 1)) * mp.sqrt(mpf(squares(values) / (n - 1) / n))
    return [mpf(mean(values)) - reach, mpf(mean(values)) + reach]


def exact_ratio(a, b, paired, level):
    """Of geometric means, with Student's or Welch's interval on the logarithms."""
    x, y = ([mp.log(mpf(v)) for v in exactly(values)] for values in (a, b))
    if paired:
        d = [p - q for p, q in zip(x, y)]
        apart, square, df = mean(d), squares(d) / (len(d) - 1) / len(d), mp.mpf(len(d) - 1)
    else:
        n, m = len(x), len(y)
        v, w = squares(x) / (n - 1) / n, squares(y) / (m - 1) / m
        apart, square, df = mean(x) - mean(y), v + w, (v + w) ** 2 / (v**2 / (n - 1) + w**2 / (m - 1))
    reach = t_quantile((1 - mp.mpf(level)) / 2, df) * mp.sqrt(square)
    return [mp.exp(apart), mp.exp(apart - reach), mp.exp(apart + reach)]


def doubled_ranks(values):
    return [sum(2 * (w < v) + (w == v) for w in values) + 1 for v in values]


def sign_sums(weights):
    ways = {0: 1}
    for weight in weights:
        after = {}
        for total, count in ways.items():
            after[total] = after.get(total, 0) + count
            after[total + weight] = after.get(total + weight, 0) + count
        ways = after
    return ways


def share(ways, test):
    return mpf(Fraction(sum(c for k, c in ways.items() if test(k)), sum(ways.values())))


def exact_wilcoxon(d, zeros, used, alternative, corrected):
    d = [v for v in d if zeros != "wilcox" or v != 0]
    if not any(d):
        return None
    n, ranks = len(d), doubled_ranks([abs(v) for v in d])
    half = sum(r for r, v in zip(ranks, d) if v == 0) // 2 if zeros == "zsplit" else 0
    plus = sum(r for r, v in zip(ranks, d) if v > 0) + half
    minus = sum(r for r, v in zip(ranks, d) if v < 0) + half
    if used == "exact":
        ways = sign_sums(range(1, n + 1))
        upper, lower = share(ways, lambda k: k >= plus // 2), share(ways, lambda k: k <= -(-plus // 2))
    elif used == "permutation":
        ways = sign_sums([r for r, v in zip(ranks, d) if v != 0])
        upper, lower = share(ways, lambda k: k >= plus - half), share(ways, lambda k: k <= plus - half)
    else:
        nil = sum(v == 0 for v in d) if zeros == "pratt" else 0
        centre = Fraction(n * (n + 1) - nil * (nil + 1), 4)
        square = Fraction(n * (n + 1) * (2 * n + 1) - nil * (nil + 1) * (2 * nil + 1))
        distances = [abs(v) for v in d if zeros != "pratt" or v != 0]
        square -= Fraction(sum(c**3 - c for c in (distances.count(v) for v in set(distances))), 2)
        away = Fraction(plus, 2) - centre
        sign = {"greater": 1, "less": -1, "two-sided": (away > 0) - (away < 0)}[alternative]
        away -= Fraction(sign, 2) if corrected else 0
        z = mpf(away) / mp.sqrt(mpf(square / 24))
        upper, lower = normal_upper(z), normal_upper(-z)
    statistic = min(plus, minus) if alternative == "two-sided" else plus
    return [mp.mpf(statistic) / 2, p_of(upper, lower, alternative)]


def u_ways(n, m):
    """Ways to each U without ties: the Gaussian binomial coefficient, by integers."""
    ways = [1]
    for i in range(1, n + 1):
        grown = ways + [0] * (m + i)
        for k in range(len(grown) - 1, m + i - 1, -1):
            grown[k] -= grown[k - m - i]
        for k in range(i, len(grown)):
            grown[k] += grown[k - i]
        ways = grown[: n * m + 1]
    return dict(enumerate(ways))


def choice_ways(weights, take):
    ways = [{0: 1}] + [{} for _ in range(take)]
    for weight in weights:
        for k in range(take - 1, -1, -1):
            for total, count in ways[k].items():
                ways[k + 1][total + weight] = ways[k + 1].get(total + weight, 0) + count
    return ways[take]


def exact_mann_whitney(a, b, method, alternative):
    n, m = len(a), len(b)
    both = list(a) + list(b)
    if len(set(both)) == 1:
        return None
    if method == "auto":
        tied = len(set(both)) < len(both)
        method = "corrected" if tied or min(n, m) > 8 else "exact"
    ranks = doubled_ranks(both)
    doubled = sum(ranks[:n]) - n * (n + 1)
    if method == "exact":
        ways = u_ways(n, m)
        upper, lower = share(ways, lambda k: k >= doubled // 2), share(ways, lambda k: k <= -(-doubled // 2))
    elif method == "permutation":
        ways, place = choice_ways(ranks, n), sum(ranks[:n])
        upper, lower = share(ways, lambda k: k >= place), share(ways, lambda k: k <= place)
    else:
        ties = sum(c**3 - c for c in (both.count(v) for v in set(both)))
        error = mp.sqrt(mpf(Fraction(n * m, 12) * (n + m + 1 - Fraction(ties, (n + m) * (n + m - 1)))))
        towards = Fraction(1, 2) if method == "corrected" else 0
        away = Fraction(doubled - n * m, 2)
        upper, lower = normal_upper(mpf(away - towards) / error), normal_upper(-mpf(away + towards) / error)
    return [mp.mpf(doubled) / 2, p_of(upper, lower, alternative)]


def inversion_ways(n):
    ways = [1]
    for k in range(2, n + 1):
        grown = [0] * (len(ways) + k - 1)
        for start, count in enumerate(ways):
            for more in range(k):
                grown[start + more] += count
        ways = grown
    return dict(enumerate(ways))


def exact_kendall(x, y, method, alternative):
    n = len(x)
    if n < 2 or len(set(x)) == 1 or len(set(y)) == 1:
        return None
    sign = lambda v: (v > 0) - (v < 0)
    pairs = [sign(x[i] - x[j]) * sign(y[i] - y[j]) for i in range(n) for j in range(i)]
    total, excess, discordant = len(pairs), sum(pairs), pairs.count(-1)
    groups = lambda v: [c for c in (list(v).count(u) for u in set(v)) if c > 1]
    sums = lambda f: [sum(f(t) for t in groups(v)) for v in (x, y)]
    pairs_x, pairs_y = sums(lambda t: t * (t - 1) // 2)
    tau = mp.mpf(excess) / mp.sqrt(mp.mpf((total - pairs_x) * (total - pairs_y)))
    tied = pairs_x + pairs_y > 0
    if method == "auto":
        method = "exact" if not tied and (n <= 33 or min(discordant, total - discordant) <= 1) else "asymptotic"
    if method == "exact":
        if tied:
            return None
        ways = inversion_ways(n)
        upper, lower = share(ways, lambda k: k <= discordant), share(ways, lambda k: k >= discordant)
    elif n < 3:
        return None
    else:
        (x0, y0), (x1, y1) = sums(lambda t: t * (t - 1) * (t - 2)), sums(lambda t: t * (t - 1) * (2 * t + 5))
        m = n * (n - 1)
        square = Fraction(m * (2 * n + 5) - x1 - y1, 18) + Fraction(2 * pairs_x * pairs_y, m)
        square += Fraction(x0 * y0, 9 * m * (n - 2))
        z = excess / mp.sqrt(mpf(square))
        upper, lower = normal_upper(z), normal_upper(-z)
    return [tau, p_of(upper, lower, alternative)]


def exact_spearman(x, y, alternative):
    n = len(x)
    if n < 3 or len(set(x)) == 1 or len(set(y)) == 1:
        return None
    a, b = ([r - n - 1 for r in doubled_ranks(v)] for v in (x, y))
    dot = lambda u, v: sum(i * j for i, j in zip(u, v))
    both, rest = dot(a, b), dot(a, a) * dot(b, b) - dot(a, b) ** 2
    rho = both / mp.sqrt(mp.mpf(dot(a, a) * dot(b, b)))
    t = mp.inf * both if rest == 0 else both * mp.sqrt(mp.mpf(n - 2) / rest)
    return [rho, p_of(t_upper(t, mp.mpf(n - 2)), t_upper(-t, mp.mpf(n - 2)), alternative)]


def quantile(values, p):
    values = sorted(values)
    place = p * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def tost_exact(apart, error, df, low, high):
    return [t_upper((apart - mp.mpf(low)) / error, df), t_upper((mp.mpf(high) - apart) / error, df)]


def j(df):
    df = mp.mpf(df)
    return mp.gamma(df / 2) / mp.sqrt(df / 2) / mp.gamma((df - 1) / 2)


def noncentral_upper(t, df, delta):
    """Over the density of s, at 20 digits."""
    t, df, delta = mp.mpf(t), mp.mpf(df), mp.mpf(delta)
    log = mp.log(2) + df / 2 * mp.log(df / 2) - mp.loggamma(df / 2)
    density = lambda s: mp.exp(log + (df - 1) * mp.log(s) - df * s * s / 2)
    width = 1 / mp.sqrt(2 * df)
    edges = [1 + k * width for k in range(-14, 15) if 1 + k * width > 0]
    if t != 0:
        edges += [e for e in ((delta + k) / t for k in range(-8, 9, 2)) if 0 < e < edges[-1]]
    edges = [mp.mpf(0)] + sorted(set(edges))
    return mp.quad(lambda s: density(s) * normal_upper(t * s - delta), edges)


def noncentrality(t, df, tail):
    guess = t - mp.mpf(stats.norm.isf(float(tail))) * mp.sqrt(1 + t * t / 2 / df)
    with mp.workdps(22):
        return mp.findroot(lambda d: noncentral_upper(t, df, d) - tail, (guess, guess * 1.001 + 0.001))
