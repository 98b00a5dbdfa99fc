"""From measured lines to ratios: best time against best time, case by case, by families of cases, and in all."""
import dataclasses
import math
import re

BETTER_LAYOUT = "better layout"  # in the place of a peer: PyTorch with the faster order of axes
LARGE_BYTES, LARGE_FLOPS = 1e6, 1e7  # below both, starting a step is most of what is measured
SMALL = "kernels under 1 MB and 10 MFLOP"


def time_of(line):
    """Milliseconds, of a kernel's line or a page's; None where the peer refused."""
    if "min_ms" in line:
        return line["min_ms"]
    return line["best_step_us"] / 1e3 if "best_step_us" in line else None


def key_of(line):
    return line["case"] + (f" ({line['keep']})" if "keep" in line else "")


def side_of(line):
    """The first word of the line's `peer`, or weft."""
    return line.get("peer", "weft").split()[0]


def best_times(lines):
    """{side: {case: best milliseconds}} of all repeats."""
    best = {}
    for line in lines:
        time = time_of(line)
        if time is not None:
            times = best.setdefault(side_of(line), {})
            key = key_of(line)
            times[key] = min(time, times.get(key, math.inf))
    return best


def other_layout(case):
    return case.replace("NHWC", "NCHW") if "NHWC" in case else case.replace("NCHW", "NHWC")


def better_layout(times):
    """For each case whose layout is one of two: the better time of both, as PyTorch lets its users choose for the same data."""
    return {case: min(time, times[other_layout(case)]) for case, time in times.items() if other_layout(case) != case and other_layout(case) in times}


@dataclasses.dataclass
class Row:
    """One of Weft's cases. A ratio over 1: Weft is faster."""
    case: str
    time: float
    kind: str  # page, small, memory or product: what the time goes to
    against: dict  # {peer: (time, ratio)}
    traffic: dict = dataclasses.field(default_factory=dict)  # of a kernel: bytes, passes over memory, limit_ms that the machine needs at least


def kind_of(line):
    if "keep" in line:
        return "page"
    if line.get("bytes", 0) < LARGE_BYTES and line.get("flops", 0) < LARGE_FLOPS:
        return "small"
    return "product" if line.get("limit") == "product" else "memory"


def traffic_of(lines):
    """{case: bytes, passes and the least limit_ms of all repeats}, of the lines that have them."""
    found = {}
    for line in lines:
        if side_of(line) == "weft" and "limit_ms" in line:
            traffic = found.setdefault(key_of(line), {"bytes": line["bytes"], "passes": line["passes"], "limit_ms": math.inf})
            traffic["limit_ms"] = min(traffic["limit_ms"], line["limit_ms"])
    return found


def rows(lines, peers):
    """Weft's cases against these peers: pages first, small kernels last."""
    best = best_times(lines)
    best[BETTER_LAYOUT] = better_layout(best.get("torch", {}))
    kinds = {key_of(line): kind_of(line) for line in lines if side_of(line) == "weft"}
    traffic = traffic_of(lines)
    found = [Row(case, time, kinds[case], {peer: (best[peer][case], best[peer][case] / time) for peer in [*peers, BETTER_LAYOUT] if case in best.get(peer, {})},
                 traffic.get(case, {}))
             for case, time in best.get("weft", {}).items()]
    return sorted(found, key=lambda row: ("page", "memory", "product", "small").index(row.kind))


def family_of(row):
    """The case's name without its sizes: BiasAddGrad.64x14x14x256.NHWC is one of BiasAddGrad.NHWC. A page is its own family, small cases are one."""
    if row.kind == "page":
        return row.case
    if row.kind == "small":
        return SMALL
    return ".".join(part for part in row.case.split(".") if not re.fullmatch(r"\d+(x\d+)*|stride\d+", part))


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


@dataclasses.dataclass
class Summary:
    name: str
    ratios: list

    @property
    def mean(self):
        return geometric_mean(self.ratios)

    @property
    def faster(self):
        return sum(ratio >= 1 for ratio in self.ratios)


def summaries(found, peer, name_of):
    """A Summary for each name_of(row), in their order, of the rows that have a ratio to the peer."""
    grouped = {}
    for row in found:
        if peer in row.against and name_of(row) is not None:
            grouped.setdefault(name_of(row), []).append(row.against[peer][1])
    return [Summary(name, ratios) for name, ratios in grouped.items()]


KINDS = {"page": "pages", "memory": "kernels that memory bounds, from 1 MB", "product": "products and convolutions", "small": SMALL}


def overall(found, peer):
    """Of pages, of what memory bounds, of products, of small kernels, and of all kernels."""
    kinds = {summary.name: summary for summary in summaries(found, peer, lambda row: KINDS[row.kind])}
    kernels = summaries(found, peer, lambda row: None if row.kind == "page" else "all kernels")
    return [kinds[name] for name in KINDS.values() if name in kinds] + kernels
