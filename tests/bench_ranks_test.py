#!/usr/bin/env python3
"""tools/bench_ranks without MPI and PyTorch: what programs say, ratios, tables, the model. Last line: bench_ranks: N tests, M failed."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools/ranks"), str(ROOT / "tools/peers")]
import fed_pages  # noqa: E402
import measures  # noqa: E402
import report  # noqa: E402
import scaling  # noqa: E402
from measures import Setup  # noqa: E402

FACTS = {"date": "2000-01-01", "machine": "M", "cores": 2, "versions": "weft 1", "repeats": 2, "command": "tools/bench_ranks", "gradient_bytes": 8_000_000}
MEMORY = scaling.Link(0.004, 0.001, 2e-7, 1e-7)
TCP = scaling.Link(0.04, 0.006, 8e-7, 1e-7)
TRUTH = scaling.Model(shard=4.0, updates=2.0, contention=1.125, bytes=8_000_000, buckets=4, early=3, hidden=0.4)
TRANSPORTS = ((Setup("openmpi", 2), MEMORY), (Setup("mpich", 2), MEMORY), (Setup("openmpi", 2, tcp=True), TCP))


def step(setup, ms, shards=8, rows=4):
    return {"step": "weft", **setup.facts(), "shards": shards, "rows": rows, "ms": ms, "buckets": 4.0, "early": 3.0}


def synthetic():
    """The lines of a run whose times are those of known parameters."""
    nothing = scaling.Link(0, 0, 0)
    yield {"facts": FACTS}
    yield step(Setup(), TRUTH.step(1, 8, nothing))
    yield step(Setup(threads=2), 20.0)
    for setup, link in TRANSPORTS:
        yield step(setup, TRUTH.step(2, 8, link, TRUTH.contention) + 1)  # not the best
        yield step(setup, TRUTH.step(2, 8, link, TRUTH.contention))
        for count, size in measures.MESSAGES:
            yield {**setup.facts(), "messages": count, "bytes": size, "ms": link.time(count, size)}
        for size in measures.JOIN_BYTES:
            yield {**setup.facts(), "reduction": "tree", "bytes": size, "ms": link.exchange(2, size, 1)}
    yield step(Setup("openmpi", 4), 2 * TRUTH.step(4, 8, MEMORY, TRUTH.contention))
    for shards in (2, 4, 16):
        yield step(Setup(), TRUTH.step(1, shards, nothing), shards)
    yield step(Setup(), TRUTH.with_shard(30.0).step(1, 2, nothing), 2, 32)
    yield {"step": "side by side", "ms": 1.125 * TRUTH.step(1, 8, nothing)}
    yield {**Setup("openmpi", 2).facts(), "reduction": "allreduce", "bytes": measures.SUM_BYTES, "ms": 3 * MEMORY.exchange(2, measures.SUM_BYTES, 1)}
    yield {"step": "losses", "losses": [2.5, 2.25]}
    for last, ms in (False, 21.0), (True, 18.0):
        yield {"peer": "torch-ddp 2", "processes": 2, "threads": 1, "options": {"channels_last": last}, "ms": ms, "losses": [2.5, 2.250001]}


class ParsingTest(unittest.TestCase):
    def test_what_weft_says(self):
        told = measures.steps_told("[debug] rank 0\n[debug] 60 steps, 1.75 s, the first 0.275 s; 120 of 180 buckets were on their way before their step was computed\n")
        self.assertEqual(told, {"ms": 25, "buckets": 3, "early": 2})
        with self.assertRaisesRegex(measures.Failed, "no time"):
            measures.steps_told("killed")

    def test_losses(self):
        self.assertEqual(measures.losses_told("1  loss.output  DT_FLOAT [] 2.5\n2  loss.output  DT_FLOAT [] 2.25\n"), [2.5, 2.25])
        with self.assertRaisesRegex(measures.Failed, "no losses"):
            measures.losses_told("")

    def test_commands(self):
        self.assertEqual(Setup().command("weft", 1), ["weft", "1"])
        over_tcp = Setup("openmpi", 2, tcp=True).command("weft")
        self.assertEqual(over_tcp[0], "mpirun.openmpi")
        self.assertEqual(over_tcp[-3:], ["-n", "2", "weft"])
        self.assertIn("self,tcp", over_tcp)
        self.assertIn("--oversubscribe", Setup("openmpi", 1000).command("weft"))
        self.assertNotIn("--oversubscribe", Setup("openmpi", 1).command("weft"))

    def test_side_by_side(self):
        command = [sys.executable, "-c", "import os, sys; print(os.getpid(), file=sys.stderr)"]
        self.assertEqual(len({*measures.run_side_by_side(command, 2)}), 2)
        with self.assertRaisesRegex(measures.Failed, "^failed: .*\nno page$"):
            measures.run_side_by_side(["sh", "-c", "echo no page >&2; exit 3"], 2)

    def test_side_by_side_ends_what_hangs(self):
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            with self.assertRaisesRegex(measures.Failed, "^took more than 0.5 s: sh "):
                measures.run_side_by_side(["sh", "-c", f"echo > {folder}/$$; exec sleep 60"], 2, timeout=0.5)
            self.assertLess(time.monotonic() - began, 30)
            for process in pathlib.Path(folder).iterdir():
                self.assertFalse(pathlib.Path("/proc", process.name).exists())

    def test_lines_among_others(self):
        self.assertEqual(measures.json_lines('warning\n{"ms": 1}\n{torn'), [{"ms": 1}])

    def test_the_page_is_that_of_the_tests(self):
        page = fed_pages.cnn(8)
        self.assertEqual(page.feeds["x.output"].shape, (8, 28, 28, 1))
        self.assertEqual(measures.gradient_bytes(), 4 * (25 * 32 + 32 + 25 * 32 * 64 + 64 + 3136 * 512 + 512 + 5120 + 10))


class ModelTest(unittest.TestCase):
    def test_coefficients_are_found_and_none_is_negative(self):
        columns = np.array([[1, 1], [1, 2], [1, 5]])
        self.assertTrue(np.allclose(scaling.fitted(columns, columns @ [3.0, 1e-7]), [3.0, 1e-7]))
        self.assertTrue((scaling.fitted(columns, [5.0, 4.0, 1.0]) >= 0).all())

    def test_known_parameters_are_found_again(self):
        measured = report.Measured(list(synthetic()))
        found = report.links(measured)
        for setup, truth in TRANSPORTS:
            link = found[setup.launcher, 2, 1, setup.tcp]
            for name in ("latency", "message", "byte", "sum"):
                self.assertAlmostEqual(getattr(link, name) / getattr(truth, name), 1, places=6, msg=name)
            self.assertLess(max(link.errors), 1e-6)
        model = report.model_of(measured, found, TRUTH.bytes)
        for name in ("shard", "updates", "contention", "hidden"):
            self.assertAlmostEqual(getattr(model, name), getattr(TRUTH, name), places=3, msg=name)
        self.assertEqual([(pictures, round(ms, 6)) for pictures, ms in report.wide_shards(measured, model)], [(32, 30.0)])
        rows = list(report.errors(measured, model, found, 2))
        self.assertEqual([of_fit for *_, of_fit in rows], [True] * 7 + [False])
        self.assertLess(max(abs(predicted / ms - 1) for _, ms, predicted, _ in rows), 1e-3)

    def test_limits(self):
        free = scaling.Link(0, 0, 0)
        self.assertAlmostEqual(TRUTH.efficiency(1, 64, TCP), 1)
        self.assertAlmostEqual(scaling.Model(4, 0, 1, 8e6, 4, 3).efficiency(64, 64, free), 1)
        self.assertLess(TRUTH.efficiency(64, 64, TCP.over(10, 30)), TRUTH.efficiency(64, 64, TCP.over(100, 5)))
        # What is hidden is never more than a shard's time.
        slow = scaling.Link(0, 0, 1e-3)
        self.assertAlmostEqual(TRUTH.step(2, 8, slow), 4 * 4 + 2 + slow.exchange(2, 8e6, 4) - 4)

    def test_a_network_adds_its_latency_and_limits_the_bytes(self):
        link = TCP.over(10, 30)  # 1.25 GB/s, as TCP here has
        self.assertAlmostEqual(link.latency, 0.07)
        self.assertAlmostEqual(link.byte, 8e-7)
        self.assertAlmostEqual(TCP.over(1, 0).byte, 8e-6)


class ReportTest(unittest.TestCase):
    def setUp(self):
        self.lines = list(synthetic())

    def test_best_against_best(self):
        measured = report.Measured([{"facts": FACTS}, step(Setup(), 30), step(Setup(threads=2), 20), step(Setup("mpich", 2), 16), step(Setup("mpich", 2), 15)])
        self.assertEqual(report.ratios(measured)["mpich", 2, 1, False], (2, 20 / 15))
        self.assertEqual(list(report.goals(measured)), ["2 ranks, MPICH: 2.00x of one rank of one thread (goal 1.7x, reached), 1.33x of one rank of two threads (goal 0.85x, reached)"])

    def test_document(self):
        text = report.document(self.lines, [(10, 30), (100, 5)])
        self.assertIn("| 1 rank of 1 thread | 34.0 ms | 1.00x | 0.59x |", text)
        self.assertIn("| 4 ranks, Open MPI on 2 cores |", text)
        self.assertIn("| ranks | 10 Gbit/s, 30 us | 100 Gbit/s, 5 us |", text)
        self.assertIn("| 64 MB | MPI_Allreduce |", text)
        self.assertIn("| 2 ranks, Open MPI | 57.6 ms | 19.2 ms | 3.00x |", text)
        self.assertIn("18.0 ms |", text)
        self.assertIn("channels_last |", text)
        self.assertIn("64 shards of 32 pictures", text)
        self.assertTrue(all(line.count("|") == 4 for line in text.splitlines() if line.startswith("| 64 |")), text)

    def test_another_net_is_refused(self):
        self.lines[-1]["losses"] = [2.5, 2.26]
        with self.assertRaisesRegex(SystemExit, "another one"):
            report.document(self.lines, [(10, 30)])

    def test_parts(self):
        few = [line for line in self.lines if "facts" in line or line.get("step") == "weft"]
        text = report.document(few, [(10, 30)])
        self.assertIn("## A step", text)
        self.assertNotIn("## A model", text)
        sums = report.document([line for line in self.lines if "facts" in line or "reduction" in line], [(10, 30)])
        self.assertIn("## Sums", sums)
        self.assertNotIn("## A step", sums)

    def test_programs_that_fail(self):
        with self.assertRaisesRegex(measures.Failed, "took more than"):
            measures.run(["sleep", 5], timeout=0.1)
        with self.assertRaisesRegex(measures.Failed, "failed: false"):
            measures.run(["false"])


class ProgramTest(unittest.TestCase):
    def run_program(self, *arguments):
        return subprocess.run(["/usr/bin/python3", str(ROOT / "tools/bench_ranks"), *arguments], capture_output=True, text=True)

    def test_tables_from_measured_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            measured = pathlib.Path(folder) / "measured.jsonl"
            measured.write_text("".join(json.dumps(line) + "\n" for line in synthetic()))
            done = self.run_program("--from", str(measured), "--out", folder, "--network", "40,5")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("| ranks | 40 Gbit/s, 5 us |", (pathlib.Path(folder) / "ranks.md").read_text())

    def test_wrong_use(self):
        for arguments in (["--repeats", "0"], ["--weft", "/no/such/program"], ["--from", "/dev/null"], ["--network", "0,1"], ["--only", "poetry"]):
            self.assertNotEqual(self.run_program(*arguments).returncode, 0, arguments)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"bench_ranks: {result.testsRun} tests, {bad} failed")
    sys.exit(bad > 0)
