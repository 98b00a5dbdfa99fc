"""Hosts in C and Python that join the job of their launcher: bits, refusals, failures. Run by tests/ranks_test.py."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import launching
import sharded_pages

LIBRARIES = launching.WEFT.parent.parent / "lib"
SOURCES = pathlib.Path(__file__).resolve().parent / "hosts"
PYTHON = "/usr/bin/python3"
LAUNCHERS = launching.installed()
BUILT = (LIBRARIES / "libweft.so").exists() and (LIBRARIES / "libweft-python.so").exists()


def environment():
    return {**launching.environment(), "PYTHONPATH": str(launching.ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1",
            "WEFT_LIBRARY": str(LIBRARIES / "libweft-python.so")}


@unittest.skipUnless(BUILT, "needs weft_shared and weft_python")
class HostTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.built.cleanup)
        program = pathlib.Path(cls.built.name, "train")
        subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I", launching.ROOT / "runtime/include", SOURCES / "train.c", "-o", program,
                        "-L", LIBRARIES, "-lweft", f"-Wl,-rpath,{LIBRARIES}"], check=True)
        cls.hosts = {"C": ([str(program)], program), "Python": ([PYTHON, str(SOURCES / "train.py")], PYTHON)}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def each(self):
        return [(launcher, language) for launcher in LAUNCHERS for language in self.hosts]

    def arguments(self, made, steps, page=None, shards=4, deadline=20_000):
        """What a host is called with: the feeds as files of floats, and a folder a rank for what it computes."""
        for rank in range(4):
            (self.path / f"out{rank}").mkdir(exist_ok=True)
        fed = []
        for name, values in made.feeds.items():
            values.tofile(self.path / name)
            fed += [name, self.path / name, *values.shape]
        path = self.path / f"{made.page.name}.page.json"
        return [str(word) for word in (page or path, shards, steps, deadline, self.path / "out@", ",".join(made.variables), *fed)]

    def command(self, launcher, language, ranks, arguments):
        words = [] if launcher is None else [*launching.LAUNCHERS[launcher], "-n", str(ranks)]
        return [*words, *self.hosts[language][0], *arguments]

    def run_host(self, launcher, language, ranks, arguments, timeout=60):
        return subprocess.run(self.command(launcher, language, ranks, arguments), capture_output=True, text=True, timeout=timeout, env=environment())

    def start(self, launcher, language, arguments, ranks=2):
        process = subprocess.Popen(self.command(launcher, language, ranks, arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env=environment(), start_new_session=True)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.stdout.close()))
        program = self.hosts[language][1]
        return process, launching.wait_for(lambda: (found := launching.ranks_of(process, program)) and len(found) == ranks and found)

    def cost(self, launcher, language, made):
        """What a job of one step takes of processors."""
        return launching.cost(lambda: self.run_host(launcher, language, 2, self.arguments(made, 1)))

    def ended(self, process, ranks):
        output, _ = process.communicate(timeout=40)
        self.assertNotEqual(process.returncode, 0, output)
        launching.wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in ranks.values()), 10)
        return output

    def test_bits(self):
        """Every result and variable, on every rank, as the command has them on one process."""
        made = sharded_pages.small()
        made.fetch(*[f"{name}.ref" for name in made.variables])
        whole = launching.results(1, [*made.save(self.path), "--shards", 4, "--steps", 10])
        self.assertLess({"loss.output", *made.variables}, {*whole})
        arguments = self.arguments(made, 10)
        for launcher, language in [*self.each(), (None, "C"), (None, "Python")]:
            with self.subTest(launcher=launcher, host=language):
                ranks = 1 if launcher is None else 2
                done = self.run_host(launcher, language, ranks, arguments)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                for rank in range(ranks):
                    name = {"openmpi": "Open MPI v.*", "mpich": "MPICH.*", None: ""}[launcher]
                    self.assertRegex(done.stdout, rf"rank {rank} of {ranks}, by {name}\n")
                    for name, values in whole.items():
                        file = self.path / f"out{rank}" / name
                        self.assertEqual(values.tobytes(), file.read_bytes(), f"{launcher} {language} rank {rank}: {name}")
                        file.unlink()

    def test_page_that_differs(self):
        """A rank that has another page, or cannot load its own, is named, and all end."""
        made = sharded_pages.small()
        made.save(self.path)
        text = (self.path / "small_float.page.json").read_text()
        (self.path / "page0.json").write_text(text)
        for content, words in ((text.replace("0.25", "0.5"), ["rank 1 (", "has another page than rank 0"]),
                               (text.replace('"MatMul"', '"MatMull"'), ["rank 1 (", "MatMull"])):
            (self.path / "page1.json").write_text(content)
            for launcher, language in self.each():
                with self.subTest(launcher=launcher, host=language):
                    done = self.run_host(launcher, language, 2, self.arguments(made, 10, self.path / "page@.json"))
                    self.assertNotEqual(done.returncode, 0)
                    for word in words:
                        self.assertIn(word, done.stdout + done.stderr)

    def test_feed_that_differs(self):
        made = sharded_pages.small()
        made.save(self.path)
        for launcher, language in self.each():
            with self.subTest(launcher=launcher, host=language):
                arguments = self.arguments(made, 10)
                script = self.path / "own_data"
                other = self.path / "other"
                (next(iter(made.feeds.values())) * 2).tofile(other)
                script.write_text(f'#!/bin/sh\nif [ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ]; then cd {self.path}/one; fi\nexec "$@"\n')
                script.chmod(0o755)
                (self.path / "one").mkdir(exist_ok=True)
                name = next(iter(made.feeds))
                (self.path / "one" / name).write_bytes(other.read_bytes())
                arguments = [name if word == str(self.path / name) else word for word in arguments]
                words = launching.LAUNCHERS[launcher]
                done = subprocess.run([*words, "-n", "2", str(script), *self.hosts[language][0], *arguments], capture_output=True, text=True, timeout=60, env=environment(),
                                      cwd=self.path)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("has another feed than rank 0", done.stdout + done.stderr)

    def test_stopped(self):
        """A rank that stops is named by the deadline, with what was waited for."""
        made = sharded_pages.small()
        made.save(self.path)
        for launcher, language in self.each():
            with self.subTest(launcher=launcher, host=language):
                whole = self.cost(launcher, language, made)
                process, ranks = self.start(launcher, language, self.arguments(made, 10_000_000, deadline=2000))
                launching.wait_for_steps(ranks, whole)
                os.kill(ranks[1], signal.SIGSTOP)
                output = self.ended(process, ranks)
                for word in ("rank 0 (", "waited 2 s", "rank 1 (", "does not answer", "step "):
                    self.assertIn(word, output)

    def test_interrupted(self):
        """Ctrl-C at one rank of Python ends the job, and says so."""
        made = sharded_pages.small()
        made.save(self.path)
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher):
                whole = self.cost(launcher, "Python", made)
                process, ranks = self.start(launcher, "Python", self.arguments(made, 10_000_000))
                launching.wait_for_steps(ranks, whole)
                began = time.monotonic()
                os.kill(ranks[1], signal.SIGINT)
                output = self.ended(process, ranks)
                self.assertLess(time.monotonic() - began, 10)
                self.assertIn("KeyboardInterrupt", output)
                self.assertRegex(output, r"rank 1 \(.*\) was interrupted")

    def test_joined_once(self):
        """A process joins its job once, and is told so the second time."""
        program = ("import sys, weft\nwith weft.Runtime(messages='auto') as runtime:\n  try: weft.Runtime(messages='auto')\n"
                   "  except weft.Error as error: sys.stdout.write(f'{runtime.rank_names()[runtime.rank]} {error.code}\\n')\n")
        for launcher in LAUNCHERS:
            done = subprocess.run([*launching.LAUNCHERS[launcher], "-n", "2", PYTHON, "-c", program], capture_output=True, text=True, timeout=60, env=environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(re.findall(r"rank (\d) \(.*\) failed_precondition", done.stdout)), ["0", "1"])

    def test_where_of_two_runs(self):
        """A rank that is late says what its running run does, not one that was opened later."""
        program = self.path / "two_runs.py"
        program.write_text("""
import time
import weft

def slow(_):
    if runtime.rank == 1:
        time.sleep(60)

def page():
    return {"weft": 1, "page": "p", "blocks": [
        {"id": "x", "block": "Placeholder", "attrs": {"dtype": "DT_FLOAT"}},
        {"id": "told", "block": "Print", "inputs": {"input": "x.output", "data": ["x.output"]}},
        {"id": "loss", "block": "Mean", "inputs": {"input": "told.output", "axis": weft.literal([0])}}]}

with weft.Runtime(messages="auto", job_deadline=2) as runtime:
    first, second = runtime.load(page(), on_print=slow), runtime.load(page(), on_print=None)
    with first.sharded(shards=2, fetch=["loss.output"]) as one, second.sharded(shards=2, fetch=["loss.output"]) as two:
        two.run(3, feeds={"x.output": [1.0, 2.0]})
        one.run(1, feeds={"x.output": [1.0, 2.0]})
""")
        for launcher in LAUNCHERS[:1]:
            words = [*launching.LAUNCHERS[launcher], "-n", "2", PYTHON, str(program)]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=environment())
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stdout + done.stderr, r"rank 1 \(.*\) is at step 1, shard 1, block 'told'")

    def test_snapshot_folders(self):
        """Of a folder that is not the run's, rank 0 says why, and the others that it did; all go on."""
        (self.path / "others").mkdir()
        (self.path / "others" / "step-000000005000.weft").write_text("of another run")
        program = self.path / "folders.py"
        program.write_text("""
import os
import weft

with weft.Runtime(messages="auto") as runtime:
    page = runtime.load({"weft": 1, "page": "p", "blocks": [
        {"id": "x", "block": "Placeholder", "attrs": {"dtype": "DT_FLOAT"}},
        {"id": "loss", "block": "Mean", "inputs": {"input": "x.output", "axis": weft.literal([0])}}]})
    with page.sharded(shards=2, fetch=["loss.output"]) as run:
        run.run(1, feeds={"x.output": [1.0, 2.0]})
        run.save_newest("own")
        try:
            run.save_newest("others")
        except weft.Error as error:
            os.write(1, f"refused {runtime.rank} {error.code}\\n".encode())  # in one piece: both ranks write to the same place
        run.run(1)
        run.save_newest("own")
""")
        for launcher in LAUNCHERS[:1]:
            words = [*launching.LAUNCHERS[launcher], "-n", "2", PYTHON, str(program)]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=environment(), cwd=self.path)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(sorted(re.findall("refused.*", done.stdout)), ["refused 0 failed_precondition", "refused 1 aborted"])
            self.assertTrue((self.path / "others" / "step-000000005000.weft").exists())
            self.assertEqual((self.path / "own" / "LATEST").read_text(), "step-000000000002.weft\n")

    def test_refused_alone(self):
        """A call that is refused on one rank alone ends the job at once: the others are in theirs."""
        program = self.path / "refused.py"
        program.write_text(f"""
import sys, threading, time
sys.path.insert(0, {str(launching.ROOT / "tests/python")!r})
import weft
from sharded_test import line
with weft.Runtime(messages="auto", job_deadline=50) as runtime, runtime.load(line()) as page, page.sharded(shards=2) as run:
    run.step(feeds={{"x.output": [1.0, 2.0]}})
    if runtime.rank == 1:  # its step waits for that of rank 0
        threading.Thread(target=run.step, daemon=True).start()
        while not run.info.in_progress: time.sleep(0.001)
    run.save({str(self.path / "own.weft")!r})
""")
        for launcher in LAUNCHERS:
            began = time.monotonic()
            done = subprocess.run([*launching.LAUNCHERS[launcher], "-n", "2", PYTHON, str(program)], capture_output=True, text=True, timeout=60, env=environment())
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stdout + done.stderr, r"rank 1 \(.*\) failed: Error: another call steps, saves or loads")
            self.assertLess(time.monotonic() - began, 30)

    def test_collectives(self):
        """Blocks of collectives on the pages of a runtime exchange values; a rank that fails alone ends the job."""
        program = self.path / "collectives.py"
        program.write_text("""
import os, sys
import numpy as np
import weft
number = lambda value: weft.literal(np.int32(value))
keys = {"group_size": number(2), "group_key": number(1), "instance_key": number(1)}
with weft.Runtime(messages="auto") as runtime:
    page = runtime.load({"weft": 1, "page": "p", "blocks": [
        {"id": "mine", "block": "Placeholder", "attrs": {"dtype": "DT_FLOAT"}},
        {"id": "sum", "block": "CollectiveReduceV2", "attrs": {"merge_op": "Add", "final_op": "Id"}, "inputs": {"input": "mine.output", **keys}}]})
    with page.session(fetch=["sum.data"]) as session:
        session.run(feeds={"mine.output": np.full(3, runtime.rank + 1, np.float32)})
        os.write(1, f"sum {session['sum.data'].tolist()}\\n".encode())  # in one piece: both ranks write to the same place
        if "fail" in sys.argv and runtime.rank == 1:
            raise ValueError("no more data")
        session.run(feeds={"mine.output": np.zeros(3, np.float32)})
""")
        for launcher in LAUNCHERS:
            words = [*launching.LAUNCHERS[launcher], "-n", "2", PYTHON, str(program)]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("sum [3.0, 3.0, 3.0]"), 2, done.stdout + done.stderr)
            done = subprocess.run([*words, "fail"], capture_output=True, text=True, timeout=60, env=environment())
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stdout + done.stderr, r"rank 1 \(.*\) failed: ValueError: no more data")


if __name__ == "__main__":
    sys.exit("run by tests/ranks_test.py")
