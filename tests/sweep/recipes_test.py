"""The commands of docs/scale.md, as they stand there."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import slurm
from kit import BUILD, PATIENCE, ROOT, SCALE, WEFT

GUIDE = (ROOT / "docs/scale.md").read_text()
POINTS = 500  # of line.grid.json


def parts(mark):
    return {name: text for name, text in re.findall(rf"<!-- {mark}: (\S+) -->\n```\w*\n(.*?)```", GUIDE, re.S)}


FILES, RECIPES = parts("file"), parts("recipe")


class RecipeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-scale-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        readme = (ROOT / "README.md").read_text()
        (self.folder / "line.page.json").write_text(re.search(r"<!-- page -->\n```json\n(.*?)```", readme, re.S)[1])
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "weft").symlink_to(WEFT)
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(self.folder)}

    def run_recipe(self, name, change=lambda text: text):
        # Each line of a recipe must succeed.
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", change(RECIPES[name])], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, timeout=240 * PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def check_whole(self):
        lines = (self.folder / "line.sweep.jsonl").read_text().splitlines()[1:]
        points = [json.loads(line) for line in lines]
        self.assertEqual(sorted(point["point"] for point in points), list(range(POINTS)))
        self.assertFalse([point for point in points if "error" in point])

    def test_first(self):
        # (head ends before --list has written all.)
        said = self.run_recipe("first", lambda text: text.replace("| head -n 3", "> list; head -n 3 list"))
        self.assertTrue(said.startswith(f"{POINTS}\n"))
        self.assertIn("line.sweep.jsonl: 500 of 500 points done\n", said)
        self.assertIn("loss.output (median)", said)
        self.assertEqual((self.folder / "line.csv").read_text().count("\n"), POINTS + 1)
        self.assertIn("<svg", (self.folder / "line.svg").read_text())
        self.check_whole()

    def test_results(self):
        try:
            import numpy  # noqa: F401
        except ImportError:
            self.skipTest("numpy is missing")
        said = self.run_recipe("results", lambda text: text.replace("python3", sys.executable))
        rate = float(re.search(r"^(0\.0\d+)$", said, re.M)[1])
        self.assertTrue(0.001 < rate < 0.1)

    @unittest.skipUnless(shutil.which("parallel"), "GNU parallel is missing")
    def test_parallel(self):
        for recipe in ("parallel", "parallel-send"):
            with self.subTest(recipe):
                (self.folder / "hosts.txt").write_text("2/:\n")  # this machine, without ssh
                (self.folder / "line.sweep.jsonl").unlink(missing_ok=True)
                # (Over ssh, --workdir ... is a folder for the job that the files are sent to; here they are where they are.)
                self.run_recipe(recipe, lambda text: text.replace("--workdir ... ", "").replace("--cleanup ", ""))
                self.check_whole()

    def test_slurm_by_hand(self):
        """The job script with the variables of an array's tasks."""
        for task in range(POINTS // 100):
            environment = {**self.environment, "SLURM_ARRAY_TASK_ID": str(task), "SLURM_CPUS_PER_TASK": "2"}
            done = subprocess.run(["bash", "line.sbatch"], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60 * PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run([WEFT, "sweep", "line.grid.json", "--collect"], cwd=self.folder, check=True, capture_output=True)
        self.check_whole()

    @unittest.skipUnless(SCALE, "starts Slurm's daemons: tools/test_scale runs it")
    def test_slurm(self):
        """The same with a scheduler of Slurm on this machine."""
        try:
            cluster = slurm.Cluster(self.folder)
        except slurm.Missing as reason:
            self.skipTest(str(reason))
        self.addCleanup(cluster.close)
        self.environment.update(cluster.environment)
        self.run_recipe("slurm")
        cluster.wait_idle(120 * PATIENCE)
        self.assertIn("500 of 500", (self.folder / "collect.log").read_text())
        self.check_whole()

    def test_dask(self):
        library = BUILD / "lib/libweft-python.so"
        try:
            from distributed import LocalCluster
        except ImportError:
            self.skipTest("Debian's python3-distributed is missing")
        if not library.exists():
            self.skipTest("the Python package's library is not built (target weft_python)")
        self.environment.update(PYTHONPATH=str(ROOT / "python"), WEFT_LIBRARY=str(library), PYTHONDONTWRITEBYTECODE="1")
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as cluster:
            # (The workers have the path of this process.)
            self.run_recipe("dask", lambda text: text.replace("python3", sys.executable).replace("tcp://127.0.0.1:8786", cluster.scheduler_address)
                            .replace("--table", f"--weft {WEFT} --table"))
        self.check_whole()
        self.assertEqual((self.folder / "line.csv").read_text().count("\n"), POINTS + 1)

    def test_grids_fit_the_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("Debian's python3-jsonschema is missing")
        schema = json.loads((ROOT / "schemas/sweep.schema.json").read_text())
        grids = [text for name, text in FILES.items() if name.endswith(".grid.json")]
        self.assertEqual(len(grids), 2)
        for text in grids:
            jsonschema.Draft202012Validator(schema).validate(json.loads(text))

    def test_every_command_is_run(self):
        """A recipe without a test fails here."""
        source = pathlib.Path(__file__).read_text()
        for name in RECIPES:
            self.assertIn(f'"{name}"', source)


if __name__ == "__main__":
    unittest.main()
