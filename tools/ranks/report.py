"""The tables of bench_ranks, in Markdown, from the lines that it has measured."""
import launchers
import scaling
from table import time_text

GOAL_ONE, GOAL_TWO = 1.7, 0.85  # of two ranks: to one rank of one thread, and of two
ROUNDING = 1e-5                 # relative: what losses of the same net may differ by, after a few steps in float
RANKS = (1, 2, 4, 8, 16, 32, 64)
SHARDS = 64                     # of what the model is asked


def times(value):
    return f"{value:.2f}x"


def percent(value):
    return f"{100 * value:.0f} %"


def setup_of(line):
    return line["launcher"], line["ranks"], line["threads"], line["tcp"]


def title_of(setup):
    launcher, ranks, threads, tcp = setup
    words = f"{ranks} rank{'s' * (ranks > 1)}"
    if launcher is None:
        return words + f" of {threads} thread{'s' * (threads > 1)}"
    return f"{words}, {launchers.LAUNCHERS[launcher].title}{' over TCP' * tcp}"


def best(lines, key):
    """{key: its line with the shortest time}, in the order in which keys come."""
    found = {}
    for line in lines:
        known = found.setdefault(key(line), line)
        if line["ms"] < known["ms"]:
            found[key(line)] = line
    return found


class Measured:
    """The best of each case."""

    def __init__(self, lines):
        weft = [line for line in lines if line.get("step") == "weft"]
        self.sizes = best(weft, lambda line: (*setup_of(line), line["shards"], line["rows"]))
        self.shards, self.rows = next(((line["shards"], line["rows"]) for line in weft), (0, 0))  # those of the first are compared
        self.steps = best([line for line in weft if (line["shards"], line["rows"]) == (self.shards, self.rows)], setup_of)
        self.beside = min((line["ms"] for line in lines if line.get("step") == "side by side"), default=None)
        self.losses = next((line["losses"] for line in lines if line.get("step") == "losses"), None)
        self.torch_lines = [line for line in lines if "processes" in line]
        self.torch = best(self.torch_lines, lambda line: (line["processes"], line["threads"]))
        self.sums = best([line for line in lines if "reduction" in line], lambda line: (line["reduction"], *setup_of(line), line["bytes"]))
        self.messages = best([line for line in lines if "messages" in line], lambda line: (*setup_of(line), line["messages"], line["bytes"]))

    def one(self, threads=1):
        return self.steps[None, 1, threads, False]["ms"]


def table(titles, rows):
    return ["| " + " | ".join(titles) + " |", "| --- |" + " ---: |" * (len(titles) - 1), *("| " + " | ".join(row) + " |" for row in rows)]


# ---- steps -----------------------------------------------------------------------------------------------------------------------------

def ratios(measured):
    """{setup: (to 1 rank of 1 thread, to 1 rank of 2 threads)}, as speeds."""
    return {setup: (measured.one() / line["ms"], measured.one(2) / line["ms"]) for setup, line in measured.steps.items()}


def goals(measured):
    """A sentence for each way of starting two ranks that share memory."""
    for setup, (to_one, to_two) in ratios(measured).items():
        if setup[1] == 2 and not setup[3]:
            reached = [f"{times(ratio)} of one rank of {threads} (goal {goal}x, {'reached' if ratio >= goal else 'missed'})"
                       for ratio, threads, goal in ((to_one, "one thread", GOAL_ONE), (to_two, "two threads", GOAL_TWO))]
            yield f"{title_of(setup)}: {', '.join(reached)}"


def steps_section(measured, cores):
    if not measured.steps:
        return []
    found = ratios(measured)
    rows = [[title_of(setup) + (f" on {cores} cores" if setup[1] > cores else ""), time_text(line["ms"]), times(found[setup][0]), times(found[setup][1])]
            for setup, line in measured.steps.items()]
    line = next((line for setup, line in measured.steps.items() if setup[1] > 1), None)
    lines = ["## A step", "",
             f"The page `cnn`, {measured.shards} shards of {measured.rows} pictures, one thread a rank where it does not say otherwise; the time that",
             "`weft run --verbose` tells.", "",
             *table(["", "a step", "speed, of 1 rank of 1 thread", "of 1 rank of 2 threads"], rows), ""]
    lines += [sentence + "." + "  " for sentence in goals(measured)]
    if line:
        lines.append(f"Of {line['buckets']:.0f} buckets of gradients a step, {line['early']:.0f} are on their way before its last shard is computed.")
    return lines


# ---- PyTorch ---------------------------------------------------------------------------------------------------------------------------

def loss_differences(measured):
    """Of each choice of PyTorch's options: the largest relative difference of a first step's loss."""
    for line in measured.torch_lines:
        if len(line["losses"]) != len(measured.losses):
            raise ValueError(f"{len(line['losses'])} losses of PyTorch, {len(measured.losses)} of Weft")
        yield max(abs(theirs / ours - 1) for theirs, ours in zip(line["losses"], measured.losses))


def check_losses(measured):
    """The same net from the same start has the same losses, up to rounding; what is not the same net is not compared."""
    if measured.torch_lines and measured.losses and max(loss_differences(measured)) > ROUNDING:
        raise SystemExit(f"bench_ranks: PyTorch's net is another one: its losses differ by {max(loss_differences(measured)):.1e}\n"
                         + "\n".join(f"{line['losses']}" for line in [{"losses": measured.losses}, *measured.torch_lines]))


def options_text(line):
    chosen = [name for name, on in line["options"].items() if on]
    return ", ".join(chosen) or "none"


def torch_section(measured):
    if not measured.torch or not measured.losses:
        return []
    rows = []
    for (processes, threads), line in measured.torch.items():
        alike = {setup: weft["ms"] for setup, weft in measured.steps.items() if setup[1] == processes and setup[2] == threads and not setup[3]}
        for setup, ms in alike.items():
            how = f"{processes} processes of 1 thread, gloo" if processes > 1 else f"1 process of {threads} thread{'s' * (threads > 1)}"
            rows.append([title_of(setup), time_text(ms), how, time_text(line["ms"]), times(line["ms"] / ms), options_text(line)])
    two = measured.torch.get((2, 1))
    lines = ["## Beside PyTorch", "",
             f"The same net, batch and optimiser in PyTorch {next(iter(measured.torch.values()))['peer'].split()[-1]}: DistributedDataParallel with gloo on the loopback,",
             "half of the batch in each process. find_unused_parameters is off, gradient_as_bucket_view on; channels_last, static_graph and the fused",
             "optimiser are tried with and without, and the fastest counts. A ratio over 1: Weft is faster.", "",
             *table(["Weft", "a step", "PyTorch", "a step", "ratio", "its options"], rows), ""]
    if two:
        losses = [[str(i + 1), f"{ours:.7g}", f"{theirs:.7g}"] for i, (ours, theirs) in enumerate(zip(measured.losses, two["losses"]))]
        lines += [f"It is the same net: from the same values of the variables the losses of {len(measured.losses)} steps differ by {max(loss_differences(measured)):.1g} of their",
                  "size at most, in every choice of options.", "", *table(["step", "Weft", "PyTorch, 2 processes"], losses), ""]
    return lines


# ---- sums ------------------------------------------------------------------------------------------------------------------------------

def sums_section(measured, cores):
    rows = []
    for (kind, *setup, size), line in measured.sums.items():
        tree = measured.sums.get(("tree", *setup, size))
        if kind == "allreduce" and tree:
            crowd = f" on {cores} cores" if setup[1] > cores else ""
            rows.append([title_of(setup) + crowd, time_text(line["ms"]), time_text(tree["ms"]), times(line["ms"] / tree["ms"]), size])
    if not rows:
        return []
    size = rows[0].pop()
    return ["## Sums over ranks", "",
            "Floats of every rank added, the result at every rank. In the order of the tree: as a step does it (`ValueJoin`), the copy of a rank's own values",
            "included; MPI_Allreduce with a buffer for the result or in place, the faster of the two.", "",
            *table([f"{size / 1e6:.0f} MB", "MPI_Allreduce", "in the order of the tree", "times as fast"], [row[:4] for row in rows]), ""]


# ---- the model -------------------------------------------------------------------------------------------------------------------------

def links(measured):
    """{setup of two ranks: Link} of every transport whose messages and joins were timed."""
    found = {}
    for setup in dict.fromkeys(key[:4] for key in measured.messages):
        messages = [(count, size, line["ms"]) for (*of, count, size), line in measured.messages.items() if tuple(of) == setup]
        joins = [(size, line["ms"]) for (kind, *of, size), line in measured.sums.items() if kind == "tree" and tuple(of) == setup]
        if joins:
            found[setup] = scaling.fit_link(messages, joins)
    return found


def alone(measured, rows):
    return [(shards, line["ms"]) for (*setup, shards, of), line in measured.sizes.items() if tuple(setup) == (None, 1, 1, False) and of == rows]


def model_of(measured, found, size):
    line = next(line for setup, line in measured.steps.items() if setup[1] == 2)
    pairs = [(link, measured.steps[setup]["ms"]) for setup, link in found.items() if setup in measured.steps]
    return scaling.fit_model(alone(measured, measured.rows), measured.beside / measured.one(), size, line["buckets"], line["early"], pairs, measured.shards)


def errors(measured, model, found, cores):
    """Rows of what the model says of what was measured; whether it was fitted to it."""
    nothing = scaling.Link(0, 0, 0)
    for shards, ms in alone(measured, measured.rows):
        yield f"1 rank, {shards} shards", ms, model.step(1, shards, nothing), True
    for setup, line in measured.steps.items():
        link = found.get((setup[0], 2, 1, setup[3]))
        if setup[1] > 1 and link:
            yield title_of(setup), line["ms"], model.step(setup[1], measured.shards, link, model.contention, cores), setup[1] == 2


MODEL = """What a step takes on N ranks, from what was measured here and nothing else:

- computing: the shards of a rank, each as long as the steps of one rank of one thread grow with a shard; updates, and what else every rank does
  alike, as long as what is left of those steps;
- joining the gradients: each bucket is two exchanges of N - 1 messages, of 2 (N - 1) / N of its bytes in all, at the latency, the cost of a message and
  the rate that messages between two ranks have here: of 8 bytes to 16 MB, and up to 63 at a time, as 64 ranks exchange them; and additions, which are what joins of two ranks take
  beyond their messages;
- what is hidden: of the part of the buckets that leave before the last shard is computed, a fraction, never more than the time of a shard. The
  fraction is the one number that is fitted to the steps on two ranks.

On this machine steps on all cores are {contention:.2f} times as long as alone, which was measured with two processes that have nothing to do with each other, and more
ranks than cores take turns."""

ASSUMED = """What it assumes beyond that: one rank of one thread on a machine of its own; a network on which every rank sends and receives at once at its
full rate, whatever the others do; its latency comes to that of TCP on the loopback, and its rate counts where it is below the {rate:.2g} GB/s that
TCP on the loopback had each way; a fraction that is hidden as here, where messages have no core of their own. It knows nothing of slow or unequal machines, and of
no switch. **Nothing here was measured on more than one machine, and nothing beyond the table of errors is claimed.**"""


def quantities(measured, model, found):
    rows = [[f"a shard of {measured.rows} pictures", time_text(model.shard)], ["updates, and what every rank does alike", time_text(model.updates)],
            ["bytes of gradients", f"{model.bytes / 1e6:.2f} MB"], ["buckets; of them early", f"{model.buckets:.0f}; {model.early:.0f}"],
            ["of what is early, hidden", percent(model.hidden)]]
    rows[1:1] = [[f"a shard of {pictures} pictures", time_text(of_shard)] for pictures, of_shard in wide_shards(measured, model)]
    transports = [[title_of(setup), f"{1e3 * link.latency:.1f} us", f"{1e3 * link.message:.2f} us", f"{link.gigabytes:.2f} GB/s", f"{link.sum * 1e6:.3f} ms",
                   percent(link.errors[0]), percent(link.errors[1])]
                  for setup, link in found.items()]
    return [*table(["quantity", "measured"], rows), "",
            *table(["messages", "latency", "a message", "rate, each way", "additions of 1 MB", "median error", "largest"], transports), ""]


def wide_shards(measured, model):
    """(pictures, ms) of shards with more pictures: what their steps take beyond the updates."""
    for rows in sorted({key[-1] for key in measured.sizes} - {measured.rows}):
        points = alone(measured, rows)
        yield rows, sum(ms - model.updates for _, ms in points) / sum(shards for shards, _ in points)


def predictions(measured, model, tcp, networks):
    """Tables of steps and efficiencies for shards of each size."""
    sizes = [(measured.rows, model.shard), *wide_shards(measured, model)]
    for rows, of_shard in sizes:
        of_size = model.with_shard(of_shard)
        cells = [[f"{ranks}", *(f"{time_text(of_size.step(ranks, SHARDS, link))}, {percent(of_size.efficiency(ranks, SHARDS, link))}"
                                for link in (tcp.over(*network) for network in networks))] for ranks in RANKS]
        yield [f"{SHARDS} shards of {rows} pictures: a step, and the part of N times the speed of one rank", "",
               *table(["ranks", *(f"{gigabits:g} Gbit/s, {microseconds:g} us" for gigabits, microseconds in networks)], cells), ""]


def model_section(measured, size, networks, cores):
    found = links(measured)
    tcp = next((link for setup, link in found.items() if setup[3]), None)
    if not tcp or measured.beside is None or not any(setup[1] == 2 for setup in measured.steps):
        return []
    model = model_of(measured, found, size)
    rows = [[name, time_text(ms), time_text(predicted), f"{100 * (predicted / ms - 1):+.0f} %", "yes" if of_fit else "no"]
            for name, ms, predicted, of_fit in errors(measured, model, found, cores)]
    lines = ["## A model of up to 64 ranks", "", *MODEL.format(contention=model.contention).split("\n"), "", *quantities(measured, model, found)]
    lines += ["What it says of the steps that were measured:", "", *table(["", "measured", "model", "error", "fitted to it"], rows), "",
              *ASSUMED.format(rate=tcp.gigabytes).split("\n"), ""]
    for part in predictions(measured, model, tcp, networks):
        lines += part
    return lines


def document(lines, networks):
    facts = next(line["facts"] for line in lines if "facts" in line)
    measured = Measured(lines)
    check_losses(measured)
    head = ["# One page on many processes, measured", "",
            f"{facts['date']}, {facts['machine']}; {facts['versions']}.",
            f"Written by `{facts['command']}`: all cases in turn, the best of {facts['repeats']} repeats.",
            "What runs here, and how: [scale-mpi.md](scale-mpi.md)."]
    sections = [steps_section(measured, facts["cores"]), torch_section(measured), sums_section(measured, facts["cores"]),
                model_section(measured, facts["gradient_bytes"], networks, facts["cores"])]
    return "\n\n".join("\n".join(section).strip() for section in [head, *sections] if section) + "\n"
