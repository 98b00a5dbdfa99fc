"""`python3 -m weft.sweep` with a local cluster of Dask. Skipped where Debian's python3-distributed is missing."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import warnings

from kit import BUILD, PATIENCE, ROOT, WEFT, SweepTest, eventually

try:
    import distributed
except ImportError:
    distributed = None

LIBRARY = BUILD / "lib/libweft-python.so"


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT / "python"), "WEFT_LIBRARY": str(LIBRARY), "WEFT_PROGRAM": WEFT, "PYTHONDONTWRITEBYTECODE": "1"}


@unittest.skipUnless(LIBRARY.exists(), "the Python package's library is not built (target weft_python)")
class OptionsTest(unittest.TestCase):
    def test_a_task_has_points(self):
        """A negative number gave no tasks at all, and the whole grid was run here."""
        for chunk in ("-5", "some"):
            done = subprocess.run([sys.executable, "-m", "weft.sweep", "grid.json", "--chunk", chunk], capture_output=True, text=True, env=environment())
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"--chunk: needs a number of points, 0 or more, found '{chunk}'", done.stderr)

    def test_what_lies_here_goes_to_workers_with_its_whole_path(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.realpath(folder)
            program = pathlib.Path(folder, "tool")
            program.write_text('#!/bin/sh\necho "$0" "$@"\n')
            program.chmod(0o755)
            pathlib.Path(folder, "here.so").touch()
            libraries = ["--library", "./a.so", "--library", "here.so", "--library", "system.so"]
            done = subprocess.run([sys.executable, "-m", "weft.sweep", "g.json", "--weft", "./tool", *libraries], capture_output=True, text=True,
                                  cwd=folder, env=environment())
            self.assertEqual(done.stdout.split(), [f"{folder}/tool", "sweep", "g.json", "--library", f"{folder}/a.so",
                                                   "--library", f"{folder}/here.so", "--library", "system.so"], done.stderr)


@unittest.skipUnless(distributed, "Debian's python3-distributed is missing")
@unittest.skipUnless(LIBRARY.exists(), "the Python package's library is not built (target weft_python)")
class DaskTest(SweepTest):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        cls.cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def sweep_command(self, *options):
        return [sys.executable, "-m", "weft.sweep", str(self.grid), "--dask", self.cluster.scheduler_address, *options]

    def dask(self, *options):
        return subprocess.run(self.sweep_command(*options), capture_output=True, text=True, env=environment(), timeout=180 * PATIENCE)

    def test_a_worker_is_killed(self):
        """1,000 points; a worker of Dask is killed in the middle of its work: each result is there once."""
        self.write_grid(1000)
        process = subprocess.Popen(self.sweep_command("--chunk", "10"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        eventually(lambda: len(self.lines()) >= 200 or process.poll() is not None, 120)
        victim = next(iter(self.cluster.workers.values())).pid
        self.assertIsNone(process.poll(), "the sweep ended before the worker was killed")
        os.kill(victim, signal.SIGKILL)
        said = process.communicate(timeout=180 * PATIENCE)
        self.assertEqual((process.returncode, "error" in said[1]), (0, False), said)
        self.check_whole(1000)

    def test_it_goes_on(self):
        """What the journal has is not run again; points that fail are collected as well, and --retry runs them."""
        document = {"sweep": 1, "page": "fit.page.json", "grid": [{"set": "w.initvalues", "name": "start", "values": [1, "what", 3, 4, 5, "{1,2}"]}]}
        self.grid.write_text(json.dumps(document))
        self.assertEqual(self.weft("--points", "0-2", "--journal", str(self.journal)).returncode, 1)
        before = self.journal.read_text()
        done = self.dask("--chunk", "2", "--table", str(self.folder / "t.csv"))
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("5 of 6 points done, 1 failed", done.stdout)
        self.assertTrue(self.journal.read_text().startswith(before))
        self.assertEqual(sorted(line["point"] for line in self.lines()), list(range(6)))
        self.assertEqual((self.folder / "t.csv").read_text().count("\n"), 7)
        self.assertEqual(self.dask("--retry").returncode, 1)
        self.assertEqual(len(self.lines()), 6, "a point that fails again has one line")

    def test_what_goes_wrong_is_told(self):
        self.grid.write_text("{}")
        self.assertIn("this is no grid", self.dask().stderr)
        self.write_grid(3)
        wrong = self.dask("--weft", "/no/weft")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("'/no/weft' could not be run", wrong.stderr)
        self.write_grid(3, fetch=["w.reff"])
        wrong = self.dask()
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("did you mean 'ref'?", wrong.stderr)
        self.assertNotIn("Traceback", wrong.stderr)
        command = [sys.executable, "-m", "weft.sweep", str(self.grid), "--dask", "tcp://127.0.0.1:1"]
        self.assertIn("there is no scheduler of Dask at 'tcp://127.0.0.1:1'",
                      subprocess.run(command, capture_output=True, text=True, env={**environment(), "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"},
                                     timeout=120 * PATIENCE).stderr)


if __name__ == "__main__":
    unittest.main()
