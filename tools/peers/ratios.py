"""From measured lines to ratios: best time against best time, case by case, and by families of cases."""
import math
import re


def time_of(line):
    """Milliseconds, of a kernel's line or a page's; None where the peer refused."""
    if "min_ms" in line:
        return line["min_ms"]
    return line["best_step_us"] / 1e3 if "best_step_us" in line else None


def key_of(line):
    return line["case"] + (f" ({line['keep']})" if "keep" in line else "")


def best_times(lines):
    """{side: {case: best milliseconds}} of all repeats; a side is the first word of the line's `peer`, or weft."""
    best = {}
    for line in lines:
        time = time_of(line)
        if time is not None:
            times = best.setdefault(line.get("peer", "weft").split()[0], {})
            key = key_of(line)
            times[key] = min(time, times.get(key, math.inf))
    return best


def family_of(case):
    """The case's name without its sizes: BiasAddGrad.64x14x14x256.NHWC is one of BiasAddGrad.NHWC. A page is its own family."""
    if case.endswith(")"):
        return case
    return ".".join(part for part in case.split(".") if not re.fullmatch(r"\d+(x\d+)*", part))


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def rows(best, peers):
    """[(case, weft's time, {peer: (time, ratio)})] of Weft's cases, in their order. A ratio over 1: Weft is faster."""
    found = []
    for case, time in best.get("weft", {}).items():
        against = {peer: (best[peer][case], best[peer][case] / time) for peer in peers if case in best.get(peer, {})}
        found.append((case, time, against))
    return found


def families(found, peer):
    """[(family, number of cases, geometric mean, lowest, highest)] of the ratios to a peer."""
    grouped = {}
    for case, _, against in found:
        if peer in against:
            grouped.setdefault(family_of(case), []).append(against[peer][1])
    return [(family, len(ratios), geometric_mean(ratios), min(ratios), max(ratios)) for family, ratios in grouped.items()]
