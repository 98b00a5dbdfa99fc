"""What bench_ranks measures: programs that it starts, and the lines that come of them."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import time

import numpy as np

import fed_pages
import launchers

SHARDS, ROWS = 8, 4  # the page that is timed: shards, and pictures of each
WIDE_ROWS = 32
LOSSES = 6  # first steps whose losses are compared with PyTorch's: in float, later ones of the same net drift apart
SUM_BYTES = 64_000_000
JOIN_BYTES = (64_000, 512_000, 4_000_000, 16_000_000, SUM_BYTES)
# One at a time, and as N ranks exchange a bucket: N - 1 of a part each, of 6.4 MB (most of the page's gradients are one value) and of 256 KB.
MESSAGES = ((1, 8), (1, 4096), (1, 65536), (1, 262144), (1, 1_000_000), (1, 4_000_000), (1, 16_000_000),
            *((ranks - 1, size // ranks) for size in (6_400_000, 256_000) for ranks in (2, 4, 8, 16, 32, 64)))
RAN = re.compile(r"(\d+) steps, ([\d.e+-]+) s, the first ([\d.e+-]+) s; (\d+) of (\d+) buckets")


class Failed(Exception):
    """A program has failed; the text is what it said."""


@dataclasses.dataclass
class Setup:
    """Ranks, and how they are started."""
    launcher: str | None = None  # None: by none, one process alone
    ranks: int = 1
    threads: int = 1
    tcp: bool = False

    def command(self, *words):
        if self.launcher is None:
            return list(map(str, words))
        launcher = launchers.LAUNCHERS[self.launcher]
        options = [*(launcher.crowded if self.crowded else ()), *(launcher.tcp if self.tcp else ())]
        return [*launcher.words(*options), "-n", str(self.ranks), *map(str, words)]

    @property
    def crowded(self):
        return self.ranks * self.threads > os.cpu_count()

    def settings(self):
        return launchers.settings(self.crowded)

    def facts(self):
        return dataclasses.asdict(self)


def over_transports(names, ranks=2):
    """A setup for each way that messages take: the memory that ranks share, by every MPI, and TCP."""
    return [Setup(name, ranks) for name in names] + [Setup(name, ranks, tcp=True) for name in names if launchers.LAUNCHERS[name].tcp]


def setups_of_steps(names):
    return [Setup(), Setup(threads=2), *over_transports(names), *(Setup(name, 4) for name in names)]


def run(command, settings=None, timeout=120):
    try:
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, env=settings)
    except subprocess.TimeoutExpired:
        raise took_too_long(command, timeout) from None
    if done.returncode != 0:
        raise ended_badly(command, done.stdout, done.stderr)
    return done


def run_side_by_side(command, count, timeout=120):
    """Several of the same program at once: what each says on standard error. Where one fails, none is left."""
    command, end = list(map(str, command)), time.monotonic() + timeout
    started, told = [], []
    try:
        for _ in range(count):
            started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        for process in started:
            told.append(process.communicate(timeout=max(0.0, end - time.monotonic()))[1])
            if process.returncode != 0:
                raise ended_badly(command, "", told[-1])
    except subprocess.TimeoutExpired:
        raise took_too_long(command, timeout) from None
    finally:
        for process in started:
            process.kill()  # nothing, where it has ended
            process.wait()
            process.stderr.close()
    return told


def took_too_long(command, timeout):
    return Failed(f"took more than {timeout} s: {' '.join(map(str, command))}")


def ended_badly(command, output, errors):
    return Failed(f"failed: {' '.join(map(str, command))}\n{output[-2000:]}{errors[-4000:]}")


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]


def steps_told(text):
    """What `weft run --shards --verbose` says at its end: milliseconds a step after the first, which plans; buckets a step, and how many left early."""
    found = RAN.search(text)
    if not found:
        raise Failed(f"no time in what weft said:\n{text[-2000:]}")
    steps, seconds, early, buckets = int(found[1]), float(found[2]) - float(found[3]), int(found[4]), int(found[5])
    return {"ms": seconds * 1e3 / max(steps - 1, 1), "buckets": buckets / steps, "early": early / steps}


def losses_told(text):
    """By step, of `--watch loss.output`."""
    losses = [float(value) for value in re.findall(r"^\d+  loss\.output  DT_FLOAT \[\] (\S+)$", text, re.M)]
    if not losses:
        raise Failed(f"no losses in what weft said:\n{text[-2000:]}")
    return losses


class Pages:
    """The page with batches of some sizes, in a folder: {shards, rows} gives the arguments of `weft run`."""

    def __init__(self, folder):
        self.folder, self.made = pathlib.Path(folder), {}

    def arguments(self, shards, rows):
        batch = shards * rows
        if batch not in self.made:
            place = self.folder / str(batch)
            place.mkdir()
            self.made[batch] = fed_pages.cnn(batch).save(place)
        return [*self.made[batch], "--shards", shards]


class Measures:
    def __init__(self, options, folder):
        self.options, self.pages = options, Pages(folder)
        self.names = launchers.installed(options.weft)
        self.sums = {name: self.compiled(name, pathlib.Path(folder)) for name in self.names}

    def compiled(self, name, folder):
        """The program that times MPI_Allreduce, for this MPI."""
        program = folder / f"allreduce-{name}"
        run([launchers.LAUNCHERS[name].compiler, "-O2", pathlib.Path(__file__).with_name("allreduce.c"), "-o", program])
        return program

    def weft(self, setup, shards, rows, steps, *more):
        return setup.command(self.options.weft, "run", *self.pages.arguments(shards, rows), "--steps", steps, "--threads", setup.threads, "--quiet", *more)

    def step(self, setup, shards=SHARDS, rows=ROWS):
        # (A step with more shards takes longer: as many of them in all.)
        steps = max(8, self.options.steps * SHARDS * ROWS // (shards * rows))
        told = run(self.weft(setup, shards, rows, steps, "--verbose"), setup.settings()).stderr
        return {"step": "weft", **setup.facts(), "shards": shards, "rows": rows, **steps_told(told)}

    def side_by_side(self):
        """Two processes with no part in each other, each a rank of one thread: what the cores cost each other."""
        told = run_side_by_side(self.weft(Setup(), SHARDS, ROWS, self.options.steps, "--verbose"), 2)
        times = [steps_told(text)["ms"] for text in told]
        return {"step": "side by side", "shards": SHARDS, "rows": ROWS, "ms": sum(times) / len(times)}

    # The parts: each gives the lines of one repeat.

    def steps(self):
        for setup in setups_of_steps(self.names):
            yield self.step(setup)

    def torch(self, python):
        folder = pathlib.Path(self.pages.arguments(SHARDS, ROWS)[0]).parent
        for processes, threads in ((2, 1), (1, 1), (1, 2)):
            program = pathlib.Path(__file__).resolve().parents[1] / "peers/torch_ddp.py"
            yield from json_lines(run([python, program, folder, "--processes", processes, "--threads", threads, "--steps", max(1, self.options.steps * 2 // 3)], timeout=300).stdout)

    def losses(self):
        """The losses of the first steps, and beside the page the values that its variables start with."""
        folder = pathlib.Path(self.pages.arguments(SHARDS, ROWS)[0]).parent
        page = fed_pages.cnn(SHARDS * ROWS)
        page.fetch(*(name + ".ref" for name in page.variables)).page.name = "start"
        command = [self.options.weft, "run", *page.save(folder), "--shards", SHARDS, "--quiet"]
        run([*command, "--steps", 1, "--results", folder / "results.npz"])
        with np.load(folder / "results.npz") as file:
            # (The result of a Variable is what the step read: the value from before it.)
            np.savez(folder / "start.npz", **{name: file[name + ".ref"] for name in page.variables})
        told = run([*command, "--steps", LOSSES, "--watch", "loss.output"]).stdout
        return {"step": "losses", "losses": losses_told(told)}

    def sums_of_ranks(self):
        for name in self.names:
            for ranks in (2, 4):
                setup = Setup(name, ranks)
                yield from self.told(setup, self.sums[name], 8, SUM_BYTES)
                yield from self.told(setup, self.options.rank_bench, "join", 8, SUM_BYTES)

    def transports(self):
        for setup in over_transports(self.names):
            yield from self.told(setup, self.options.rank_bench, "messages", 5, *(f"{count}x{size}" for count, size in MESSAGES))
            yield from self.told(setup, self.options.rank_bench, "join", 5, *JOIN_BYTES)

    def shares(self):
        """How a step grows with its shards, in one rank of one thread, and with their rows; that of SHARDS is among the steps."""
        for shards, rows in ((2, ROWS), (4, ROWS), (2 * SHARDS, ROWS), (2, WIDE_ROWS), (4, WIDE_ROWS)):
            yield self.step(Setup(), shards, rows)
        yield self.side_by_side()

    def told(self, setup, *command):
        for line in json_lines(run(setup.command(*command), setup.settings()).stdout):
            yield {**setup.facts(), **line}


def gradient_bytes():
    """Of a step of the page: all trained variables, as floats."""
    page = fed_pages.cnn(ROWS)
    shapes = {block["id"]: block["inputs"]["shape"]["values"] for block in page.page.blocks if block["block"] == "RandomNormal"}
    return sum(4 * int(np.prod(shapes[name + "_drawn"])) for name in page.variables)
