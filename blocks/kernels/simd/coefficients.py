#!/usr/bin/env python3
"""Makes coefficients.h: the polynomials of the functions of whole registers (exp.h and its neighbours), for float and for double.

Each is the minimax one: its greatest error, relative to the function, is the smallest that its degree allows (Remez' exchange of reference
points, in numbers of 200 bits). Needs python3-mpmath; takes a minute; the output is the same on every machine.

  ./coefficients.py > coefficients.h
"""
from mpmath import mp, mpf

mp.prec = 200
DIGITS = {"float": 24, "double": 53}
MARGIN = mpf("1.0005")  # of intervals, beyond which rounding leads


def exchange(errors, count):
    """The indices of the greatest errors of alternating sign, `count` of them."""
    runs = []
    for i, e in enumerate(errors):
        if not runs or (errors[runs[-1]] > 0) != (e > 0):
            runs.append(i)
        elif abs(e) > abs(errors[runs[-1]]):
            runs[-1] = i
    while len(runs) > count:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    assert len(runs) == count, "no alternation: the degree is too high for numbers of 200 bits, or the weight too small"
    return runs


def grid(low, high, count):
    return [low + (high - low) * (1 - mp.cos(mp.pi * (i + mpf(1) / 2) / count)) / 2 for i in range(count)]


def value(polynomial, x):
    return mp.polyval(polynomial[::-1], x)


def minimax(f, low, high, degree, weight):
    """The polynomial p of least max |p - f| / weight on [low, high], and that error."""
    count = degree + 2
    xs = grid(mpf(low), mpf(high), 40 * count)
    fs, ws = [f(x) for x in xs], [weight(x) for x in xs]
    reference = [40 * i + 20 for i in range(count)]
    while True:
        a, b = mp.matrix(count, count), mp.matrix(count, 1)
        for row, i in enumerate(reference):
            for k in range(degree + 1):
                a[row, k] = xs[i] ** k
            a[row, count - 1], b[row] = (-1) ** row * ws[i], fs[i]
        polynomial = list(mp.lu_solve(a, b))[:-1]
        errors = [(value(polynomial, x) - y) / w for x, y, w in zip(xs, fs, ws)]
        last, reference = reference, exchange(errors, count)
        if reference == last:
            return polynomial, max(map(abs, errors))


def rational(f, weight, high, above, below, reference):
    """P and Q of degrees `above` and `below`, both 1 at 0, of least max |P / Q - f| / weight on [0, high]; that error, and its points,
    which begin the search on an interval that is a little longer."""
    count = above + below + 1
    xs = grid(mpf(0), high, 80 * count)
    fs, ws = [f(x) for x in xs], [weight(x) for x in xs]
    reference = reference or [80 * i + 40 for i in range(count)]
    while True:
        # P - f Q = +-error weight Q in the points of the reference: a generalised eigenvalue problem, of whose
        # solutions the one without a pole and of the least error is it.
        a, b = mp.matrix(count, count), mp.matrix(count, count)
        for row, i in enumerate(reference):
            sign = (-1) ** row * ws[i]
            a[row, 0], b[row, 0] = 1 - fs[i], sign
            for k in range(1, above + 1):
                a[row, k] = xs[i] ** k
            for k in range(1, below + 1):
                a[row, above + k], b[row, above + k] = -fs[i] * xs[i] ** k, sign * xs[i] ** k
        values, vectors = mp.eig(mp.inverse(a) * b)
        solutions = []
        for c in range(count):
            if abs(values[c]) > mpf(10) ** -40 and abs(mp.im(values[c])) < abs(values[c]) * mpf(10) ** -20:
                x = [mp.re(vectors[j, c] / vectors[0, c]) for j in range(count)]
                q = [mpf(1)] + x[above + 1:]
                if min(value(q, z) for z in xs) > 0:
                    solutions.append((abs(1 / values[c]), x[:above + 1], q))
        _, p, q = min(solutions)
        errors = [(value(p, x) / value(q, x) - y) / w for x, y, w in zip(xs, fs, ws)]
        last, reference = reference, exchange(errors, count)
        if reference == last:
            return p, q, max(map(abs, errors)), reference


def rounded(x, digits):
    with mp.workprec(digits):
        return +x


def literal(x, type_name):
    """The nearest number of the type; hexadecimal, so that it is exact."""
    mantissa, exponent = float(rounded(x, DIGITS[type_name])).hex().split("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}p{int(exponent)}" + ("f" if type_name == "float" else "")


def parts(x, sizes):
    """x as a sum of numbers of the type, all but the last with so few digits that a whole number's product with them is exact."""
    found = []
    for digits in sizes:
        found.append(rounded(x, digits))
        x -= found[-1]
    return found


def print_array(name, numbers, type_name, note=""):
    line = f"  static constexpr {type_name} {name}[] = {{"
    words = [literal(x, type_name) for x in numbers]
    lines = []
    for i, word in enumerate(words):
        word += "};" if i + 1 == len(words) else ", "
        if len(line + word) > 118:
            lines.append(line.rstrip())
            line = "    "
        line += word
    lines.append(line)
    print("\n".join(lines) + note)


def print_minimax(name, f, low, high, degree, weight, type_name):
    polynomial, error = minimax(f, low, high, degree, weight)
    print_array(name, polynomial, type_name, f"  // to {mp.nstr(error * 2 ** DIGITS[type_name], 2)} units")


def print_rest(name, f, start, power, most, degree, type_name, squares=True):
    """The polynomial P of f(x) = start(x) + x^power P(x^2), |x| <= most; of P(x) where not `squares`. The error is relative to f."""
    x_of = mp.sqrt if squares else lambda x: x
    print_minimax(name, lambda z: (f(x_of(z)) - start(x_of(z))) / x_of(z) ** power, 0 if squares else -most, most ** 2 if squares else most,
                  degree, lambda z: f(x_of(z)) / x_of(z) ** power, type_name)


def print_type(t, double):
    """The polynomials for one type; degrees as few as keep the error of each well under half a unit."""
    print(f"template <>\nstruct Coefficients<{t}> {{")
    half_log2, itself = mp.log(2) / 2 * MARGIN, lambda x: x
    print("  // exp(r) = 1 + r + r^2 Exp(r), expm1(r) = r + r^2 Expm1(r); the parts of log(2) by which r is found")
    print_rest("kExp", mp.exp, lambda r: 1 + r, 2, half_log2, 9 if double else 4, t, squares=False)
    print_rest("kExpm1", mp.expm1, itself, 2, half_log2, 10 if double else 5, t, squares=False)
    print_array("kLog2", parts(mp.log(2), [32, 53] if double else [12, 24]), t)
    print("  // log(1 + f) = 2 s + s z Log(z), s = f / (2 + f), z = s^2")
    most, log = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1), lambda s: 2 * mp.atanh(s)
    print_rest("kLog", log, lambda s: 2 * s, 3, most, 6 if double else 2, t)
    if double:
        print("  // the same with 2 s + 2/3 s^3 apart, of which more digits are taken: s^5 LogRest(z)")
        print_rest("kLogRest", log, lambda s: 2 * s + 2 * s ** 3 / 3, 5, most, 6, t)
        print_array("kTwoThirds", parts(mpf(2) / 3, [53, 53]), t)
        print("  // of fewer digits, for powers of floats in double")
        print_rest("kShortLog", log, lambda s: 2 * s, 3, most, 4, t)
        print_rest("kShortExp", mp.exp, lambda r: 1 + r, 2, half_log2, 5, t, squares=False)
    print("  // sin(r) = r + r z Sin(z), cos(r) = 1 - z / 2 + z^2 Cos(z), z = r^2, |r| <= pi/4; the parts of pi/2 by which r is found")
    print_rest("kSin", mp.sin, itself, 3, mp.pi / 4 * MARGIN, 5 if double else 2, t)
    print_rest("kCos", mp.cos, lambda r: 1 - r * r / 2, 4, mp.pi / 4 * MARGIN, 5 if double else 2, t)
    print_array("kHalfPi", parts(mp.pi / 2, [33, 33, 33, 53] if double else [13, 13, 13, 24]), t)
    print("  // atan(r) = r + r z Atan(z), |r| <= tan(pi/8); asin(s) = s + s z Asin(z), s <= 1/2")
    print_rest("kAtan", mp.atan, itself, 3, mp.tan(mp.pi / 8) * MARGIN, 10 if double else 4, t)
    print_rest("kAsin", mp.asin, itself, 3, mpf(1) / 2 * MARGIN, 11 if double else 4, t)
    short = mpf(1) if double else mpf("1.25")
    print(f"  // erf(x) = x + x Erf(x^2), |x| <= {mp.nstr(short, 3)}" + ("; erfc(x) = exp(-x^2) Erfc((x - 4) / (x + 4)) / (1 + 2 x)" if double else ""))
    print_rest("kErf", mp.erf, itself, 1, short * MARGIN, 11 if double else 7, t)
    if not double:
        print("  // erfc(x) = RootErfc(x)^8, as right as erf(x) needs it, 1.25 <= x <= 4.1")
        root = lambda x: mp.root(mp.erfc(x), 8)
        print_minimax("kRootErfc", root, short / MARGIN, mpf("4.1"), 6, lambda x: root(x) * mp.erf(x) / (8 * mp.erfc(x)), t)
        print("  // erfc(x) = exp(-x^2) Erfc((x - 4) / (x + 4)) / (1 + 2 x)")
    end = mpf(28) if double else mpf("10.6")

    def tail(u):
        x = 4 * (1 + u) / (1 - u)
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)

    print_minimax("kErfc", tail, -1, (end - 4) / (end + 4), 22 if double else 11, tail, t)
    if not double:
        print_tanh()
    print("};")


def print_tanh():
    """tanh(x) = 2 t / (1 + t^2), t = tanh(x / 2) = x P(z) / Q(z), z = x^2, for |x| up to where the nearest float is 1. The weight is what
    changes tanh(x) by its own size: more and more as that nears 1. Scaled so that P, Q and Q^2 lie below powers of 2 for small x, where a
    rounding is half of what it is above them."""
    scale = mpf("1.84")

    def ratio(z):
        return 2 * mp.tanh(mp.sqrt(z) / 2) / mp.sqrt(z)

    def weight(z):
        square = mp.tanh(mp.sqrt(z) / 2) ** 2
        return ratio(z) * (1 + square) / (1 - square)

    reference, top, end = None, mpf(1), mpf("9.2")
    while True:  # where the least error's points are is known of shorter intervals only
        p, q, error, reference = rational(ratio, weight, top ** 2, 2, 3, reference)
        if top == end:
            break
        top = min(top * mpf("1.15"), end)
    print("  // tanh(x / 2) = x TanhAbove(x^2) / TanhBelow(x^2), as right as tanh(x) needs it, |x| <= 9.2")
    print_array("kTanhAbove", [scale * x for x in p], "float")
    print_array("kTanhBelow", [2 * scale * x for x in q], "float", f"  // to {mp.nstr(error * 2 ** 24, 2)} units")


print("""// Made by coefficients.py. Polynomials from the constant on; their errors in units of the last place of what they serve.
#pragma once

namespace weft::kernels {

template <class T>
struct Coefficients;
""")
print_type("float", False)
print()
print_type("double", True)
print("\n}  // namespace weft::kernels")
