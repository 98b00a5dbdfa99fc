"""The table of ratios: Markdown, and a chart in SVG."""
import html
import math

import environment
import ratios

TITLES = {"tensorflow": "TensorFlow", "torch": "PyTorch", "tensorflow-xla": "TensorFlow with XLA", "torch-compile": "torch.compile"}
COLORS = {"tensorflow": "#d9822b", "torch": "#8a5fc7", "tensorflow-xla": "#2f8f83", "torch-compile": "#c2487c"}


def figure(value):
    """Three significant digits."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if 0 < value < 1000 else f"{value:.0f}"


def time_text(milliseconds):
    if milliseconds >= 1:
        return figure(milliseconds) + " ms"
    return figure(milliseconds * 1e3) + " us" if milliseconds >= 1e-3 else figure(milliseconds * 1e6) + " ns"


def heading(facts):
    lines = [f"{facts['date']}, {facts['machine']}, {facts['threads']} threads each; {facts['versions']}.",
             f"Best time against best time of {facts['repeats']} repeats or more, both sides in turn. A ratio over 1: Weft is faster by that factor."]
    if facts.get("level"):
        lines.append(limits(environment.LEVELS[facts["level"]]))
    return lines


def limits(level):
    """How every side is held to a level of processors."""
    return (f"Processors of {level.name}, whatever this machine has more: Weft's build for that level; oneDNN, ATen, MKL and XLA limited to it "
            f"({level.onednn}, {level.aten}, {level.mkl}, {level.xla}), and what torch.compile makes compiled for it. TensorFlow's own kernels, those of "
            "Eigen, are as its wheel was built: they do not choose by the processor.")


def summary_table(summaries, title="work"):
    lines = [f"| {title} | cases | no slower | geometric mean | lowest | highest |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    return lines + [f"| {row.name} | {len(row.ratios)} | {row.faster} | {figure(row.mean)}x | {figure(min(row.ratios))}x | {figure(max(row.ratios))}x |"
                    for row in summaries]


def present(found, peers):
    """The peers that have a time for one of these rows."""
    return [peer for peer in peers if any(peer in row.against for row in found)]


def case_table(found, peers):
    """With the columns of the peers that are in it."""
    peers = present(found, peers)
    lines = ["| case | Weft |" + "".join(f" {TITLES[peer]} | ratio |" for peer in peers), "| --- | ---: |" + " ---: | ---: |" * len(peers)]
    for row in found:
        cells = [f" {time_text(row.against[peer][0])} | {figure(row.against[peer][1])}x |" if peer in row.against else " - | - |" for peer in peers]
        lines.append(f"| {row.case} | {time_text(row.time)} |" + "".join(cells))
    return lines


def bytes_text(count):
    return f"{count / 1e6:.{1 if count < 1e8 else 0}f} MB"


TRAFFIC = """What a case must move at least: each input once, in training the pictures twice, since the sums over all of them come before the first value that
is written; each output once. The limit is the time that this takes at the rates that the same run measured on as much memory: a pass that only
reads at the rate of plain reading, one that writes at that of a = b + s * c. The share is the limit over Weft's time; it is over 1 where the second
pass finds its data in a cache. "Limit allows" is how many times as fast as the peer a program would be that took just the limit."""


def traffic_table(found, peers):
    """Biases and batch normalisation: passes, bytes, the share of what memory allows, and how much ahead of each peer that would be."""
    chosen = [row for row in found if row.traffic and row.case.startswith(("BiasAdd", "FusedBatchNorm"))]
    if not chosen:
        return []
    peers = present(chosen, peers)
    lines = ["## Passes over memory", "", TRAFFIC, "",
             "| case | passes | bytes | limit | Weft | share |" + "".join(f" {TITLES[peer]} | ratio | limit allows |" for peer in peers),
             "| --- | ---: | ---: | ---: | ---: | ---: |" + " ---: | ---: | ---: |" * len(peers)]
    for row in chosen:
        limit = row.traffic["limit_ms"]
        cells = [f" {time_text(row.against[peer][0])} | {figure(row.against[peer][1])}x | {figure(row.against[peer][0] / limit)}x |" if peer in row.against else " - | - | - |"
                 for peer in peers]
        lines.append(f"| {row.case} | {row.traffic['passes']} | {bytes_text(row.traffic['bytes'])} | {time_text(limit)} | {time_text(row.time)} | {limit / row.time:.2f} |" + "".join(cells))
    return [*lines, ""]


def overview(found, peers, facts):
    """What the README shows: all kernels in a few lines for each peer, and the pages."""
    lines = heading(facts)
    for peer in peers:
        overall = ratios.overall(found, peer)
        if overall:
            lines += ["", *summary_table(overall, f"against {TITLES[peer]}")]
    pages = [row for row in found if row.kind == "page" and row.against]
    if pages:
        lines += ["", "A step of a page; asked: only what its session asks for is kept or fetched, all: every output.", "", *case_table(pages, peers)]
    return "\n".join(lines) + "\n"


def markdown(found, peers, facts):
    """All of it. `facts`: {"date", "machine", "threads", "repeats", "versions"}."""
    lines = ["# Weft against its peers", "", *heading(facts), ""]
    for peer in peers:
        overall, families = ratios.overall(found, peer), ratios.summaries(found, peer, ratios.family_of)
        if families:
            lines += [f"## Against {TITLES[peer]}", "", *summary_table(overall), "", *summary_table(families), ""]
    either = ratios.summaries(found, ratios.BETTER_LAYOUT, ratios.family_of)
    if either:
        lines += ["## Against PyTorch with the faster of its two layouts for the same data", "", *summary_table(either), ""]
    lines += traffic_table(found, peers)
    for title, rows in (("Every page", [row for row in found if row.kind == "page"]), ("Every kernel", [row for row in found if row.kind != "page"])):
        if rows:
            lines += [f"## {title}", "", *case_table(rows, peers), ""]
    return "\n".join(lines[:-1]) + "\n"


def ticks(low, high):
    return [value for value in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if low <= value <= high]


class Chart:
    """Bars of geometric means from 1x on a logarithmic axis, with a line from the lowest to the highest ratio."""

    LEFT, WIDTH, BAR, TOP = 260, 560, 12, 70

    def __init__(self, every):
        self.low, self.high = min([0.5, *every]) / 1.1, max([2, *every]) * 1.1
        self.parts = []

    def x(self, ratio):
        return self.LEFT + self.WIDTH * math.log(ratio / self.low) / math.log(self.high / self.low)

    def text(self, x, y, text, anchor="start", size=11):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{html.escape(text)}</text>')

    def line(self, x1, y1, x2, y2, color):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}"/>')

    def box(self, x, y, width, height, color):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>')

    def bar(self, y, summary, color):
        start, end = sorted((self.x(1), self.x(summary.mean)))
        self.box(start, y, max(end - start, 1), self.BAR - 3, color)
        low, high = min(summary.ratios), max(summary.ratios)
        self.line(self.x(low), y + 4.5, self.x(high), y + 4.5, "#333")
        self.text(self.x(max(high, 1)) + 4, y + 9, f"{figure(summary.mean)}x", size=10)


def svg(found, peers, facts):
    summaries = {peer: {summary.name: summary for summary in ratios.summaries(found, peer, ratios.family_of)} for peer in peers}
    bars = {name: [peer for peer in peers if name in summaries[peer]] for name in dict.fromkeys(map(ratios.family_of, found))}
    bars = {name: against for name, against in bars.items() if against}
    chart = Chart([ratio for summary in summaries.values() for row in summary.values() for ratio in row.ratios])
    height = chart.TOP + sum(chart.BAR * len(against) + 8 for against in bars.values()) + 30
    level = f", {environment.LEVELS[facts['level']].name}" if facts.get("level") else ""
    chart.text(10, 22, "How many times as fast as its peers Weft is", size=16)
    chart.text(10, 40, f"{facts['date']}, {facts['machine']}, {facts['threads']} threads{level}; bars: geometric means, lines: lowest to highest")
    for i, peer in enumerate(present(found, peers)):
        chart.box(10 + 150 * i, 49, 10, 10, COLORS[peer])
        chart.text(25 + 150 * i, 58, TITLES[peer])
    for value in ticks(chart.low, chart.high):
        chart.line(chart.x(value), chart.TOP - 4, chart.x(value), height - 24, "#333" if value == 1 else "#ddd")
        chart.text(chart.x(value), height - 10, f"{value:g}x", "middle")
    y = chart.TOP
    for name, against in bars.items():
        chart.text(chart.LEFT - 8, y + (chart.BAR * len(against) + 8) / 2, name, "end")
        for j, peer in enumerate(against):
            chart.bar(y + chart.BAR * j, summaries[peer][name], COLORS[peer])
        y += chart.BAR * len(against) + 8
    width = chart.LEFT + chart.WIDTH + 70
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(chart.parts) + "\n</svg>\n")
