"""What the tests of sweeps share: a folder with a page and a grid, the program, journals."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEFT = os.environ.get("WEFT_PROGRAM") or str(ROOT / "build/release/bin/weft")
BUILD = pathlib.Path(WEFT).resolve().parents[1]
PATIENCE = float(os.environ.get("WEFT_PATIENCE") or 1)  # by how much a program is slower, with sanitizers
SCALE = bool(os.environ.get("WEFT_SCALE"))


def block(identity, kind, inputs=None, **more):
    return {"id": identity, "block": kind, "inputs": inputs or {}, **more}


def number(value):
    return {"dtype": "DT_FLOAT", "shape": [], "values": [value]}


# w goes from its start towards the target by the rate.
PAGE = {"weft": 1, "page": "fit", "blocks": [
    block("target", "Const", {"value": number(2)}),
    block("w", "Variable", {"initvalues": number(0)}),
    block("error", "Subtract", {"x": "w.ref", "y": "target.output"}),
    block("loss", "Square", {"x": "error.z"}),
    block("gradients", "AddSymbolicGradients", {"outputs": ["loss.y"], "inputs": ["w.ref"]}),
    block("train", "ApplyGradientDescent", {"var": "w.ref", "alpha": number(0.1), "delta": "gradients.grad_outputs[0]"}),
    block("run", "ClientSession", {"fetch_outputs": ["loss.y", "w.ref"], "run_outputs": ["train.operation"]})]}


def eventually(what, seconds=20):
    """The first true value of what() within so many seconds."""
    end = time.monotonic() + seconds * PATIENCE
    while not (value := what()):
        if time.monotonic() > end:
            raise AssertionError("it has not come about in time")
        time.sleep(0.002)
    return value


def children(process):
    """The processes that a process has started and that still run."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def busy(process):
    """Whether it has computed for a while: it has started, then."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return False
    return int(fields[11]) > 0.3 * os.sysconf("SC_CLK_TCK") * PATIENCE


class SweepTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-sweep-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.grid, self.journal = self.folder / "fit.grid.json", self.folder / "fit.sweep.jsonl"
        (self.folder / "fit.page.json").write_text(json.dumps(PAGE))

    def write_grid(self, points, **more):
        """`points` starts of w, a few steps from each."""
        document = {"sweep": 1, "page": "fit.page.json", "steps": 5, **more,
                    "grid": [{"set": "w.initvalues", "name": "start", "range": {"from": 1, "to": points, "step": 1}}]}
        self.grid.write_text(json.dumps(document))

    def command(self, *options):
        return [WEFT, "sweep", str(self.grid), *options]

    def weft(self, *options, **more):
        return subprocess.run(self.command(*options), capture_output=True, text=True, timeout=120 * PATIENCE, **more)

    def start(self, *options):
        process = subprocess.Popen(self.command(*options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def lines(self):
        """The whole lines of points in the journal."""
        text = self.journal.read_bytes() if self.journal.exists() else b""
        return [json.loads(line) for line in text[:text.rfind(b"\n") + 1].splitlines()[1:]]

    def size(self):
        return self.journal.stat().st_size if self.journal.exists() else 0

    def check_whole(self, points, failed=0):
        """Each point has one line, and its own result."""
        lines = self.lines()
        self.assertEqual(sorted(line["point"] for line in lines), list(range(points)))
        self.assertEqual(sum("error" in line for line in lines), failed)
        for line in lines:
            self.assertEqual(line["settings"], {"start": line["point"] + 1})
            if "results" in line:
                self.assertAlmostEqual(line["results"]["w"], 2 + (line["point"] - 1) * 0.8 ** 5, delta=1e-6 * points)
