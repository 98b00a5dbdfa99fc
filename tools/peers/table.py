"""The table of ratios: Markdown, and a chart in SVG."""
import html
import math

import ratios

TITLES = {"tensorflow": "TensorFlow", "torch": "PyTorch"}
COLORS = {"tensorflow": "#d9822b", "torch": "#8a5fc7"}


def figure(value):
    """Three figures that count."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if 0 < value < 1000 else f"{value:.0f}"


def time_text(milliseconds):
    if milliseconds >= 1:
        return figure(milliseconds) + " ms"
    return figure(milliseconds * 1e3) + " us" if milliseconds >= 1e-3 else figure(milliseconds * 1e6) + " ns"


def markdown(found, peers, facts):
    """`facts`: {"date", "machine", "threads", "repeats", "versions"}."""
    lines = ["# Weft against its peers", "", f"{facts['date']}, {facts['machine']}, {facts['threads']} threads each; {facts['versions']}.",
             f"Best time against best time of {facts['repeats']} repeats, both sides in turn. A ratio over 1: Weft is faster by that factor.", ""]
    for peer in peers:
        summary = ratios.families(found, peer)
        if not summary:
            continue
        lines += [f"## Against {TITLES[peer]}", "", "| work | cases | geometric mean | lowest | highest |", "| --- | ---: | ---: | ---: | ---: |"]
        lines += [f"| {family} | {count} | {figure(mean)}x | {figure(low)}x | {figure(high)}x |" for family, count, mean, low, high in summary]
        lines.append("")
    lines += ["## Every case", "", "| case | Weft |" + "".join(f" {TITLES[peer]} | ratio |" for peer in peers), "| --- | ---: |" + " ---: | ---: |" * len(peers)]
    for case, time, against in found:
        cells = [f" {time_text(against[peer][0])} | {figure(against[peer][1])}x |" if peer in against else " - | - |" for peer in peers]
        lines.append(f"| {case} | {time_text(time)} |" + "".join(cells))
    return "\n".join(lines) + "\n"


def ticks(low, high):
    return [value for value in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) if low <= value <= high]


class Chart:
    """Bars of geometric means from 1x on a logarithmic axis, with a line from the lowest to the highest ratio."""

    LEFT, WIDTH, BAR, TOP = 260, 560, 12, 70

    def __init__(self, summaries):
        every = [value for summary in summaries.values() for _, _, _, low, high in summary for value in (low, high)] or [1]
        self.low, self.high = min(0.5, min(every)) / 1.1, max(2, max(every)) * 1.1
        self.parts = []

    def x(self, ratio):
        return self.LEFT + self.WIDTH * math.log(ratio / self.low) / math.log(self.high / self.low)

    def text(self, x, y, text, anchor="start", size=11, extra=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{extra}>{html.escape(text)}</text>')

    def line(self, x1, y1, x2, y2, color, width=1):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" stroke-width="{width}"/>')

    def bar(self, y, mean, low, high, color):
        start, end = sorted((self.x(1), self.x(mean)))
        self.parts.append(f'<rect x="{start:.1f}" y="{y:.1f}" width="{max(end - start, 1):.1f}" height="{self.BAR - 3}" fill="{color}"/>')
        middle = y + (self.BAR - 3) / 2
        self.line(self.x(low), middle, self.x(high), middle, "#333")
        self.text(self.x(max(high, 1)) + 4, y + 9, f"{figure(mean)}x", size=10)


def svg(found, peers, facts):
    summaries = {peer: {row[0]: row for row in ratios.families(found, peer)} for peer in peers}
    names = list(dict.fromkeys(ratios.family_of(case) for case, _, _ in found if any(ratios.family_of(case) in summaries[peer] for peer in peers)))
    chart = Chart({peer: list(summary.values()) for peer, summary in summaries.items()})
    row = chart.BAR * len(peers) + 8
    height = chart.TOP + row * len(names) + 30
    chart.text(10, 22, "How many times as fast as its peers Weft is", size=16)
    chart.text(10, 40, f"{facts['date']}, {facts['machine']}, {facts['threads']} threads; bars: geometric means, lines: lowest to highest")
    for i, peer in enumerate(peers):
        chart.parts.append(f'<rect x="{10 + 110 * i}" y="49" width="10" height="10" fill="{COLORS[peer]}"/>')
        chart.text(25 + 110 * i, 58, TITLES[peer])
    for value in ticks(chart.low, chart.high):
        chart.line(chart.x(value), chart.TOP - 4, chart.x(value), height - 24, "#333" if value == 1 else "#ddd")
        chart.text(chart.x(value), height - 10, f"{value:g}x", "middle")
    for i, name in enumerate(names):
        y = chart.TOP + row * i
        chart.text(chart.LEFT - 8, y + row / 2, name, "end")
        for j, peer in enumerate(peers):
            if name in summaries[peer]:
                _, _, mean, low, high = summaries[peer][name]
                chart.bar(y + chart.BAR * j, mean, low, high, COLORS[peer])
    width = chart.LEFT + chart.WIDTH + 70
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
            f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(chart.parts) + "\n</svg>\n")
