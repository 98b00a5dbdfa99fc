#!/usr/bin/env python3
"""One page on several processes: bits, refusals, failures, snapshots. Last line: ranks: N tests, M failed. With RANKS_LONG set, all of it,
which takes a quarter of an hour (RANKS_ROUNDS: how often a rank is killed or stopped, by each launcher); launchers that are not installed are
left out, and the last lines say so."""
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import sys
import tempfile
import time
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/ranks"))
import launching  # noqa: E402
import sharded_pages  # noqa: E402
from host_tests import HostTest  # noqa: E402, F401

LONG = bool(os.environ.get("RANKS_LONG"))
LAUNCHERS = launching.installed()


class PageTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def save(self, made, name=None):
        if name is not None:
            made.page.name = name
        return made.save(self.path)


class BitsTest(PageTest):
    """The same bits of every variable and result, whatever the number of ranks and the launcher."""

    def same_on_all(self, made, steps, counts, shards=8, launchers=LAUNCHERS):
        made.fetch(*[f"{name}.ref" for name in made.variables])
        arguments = [*self.save(made), "--shards", shards, "--steps", steps]
        alone = launching.results(1, arguments)
        for name in made.variables:
            self.assertIn(name, alone)
        for launcher in launchers:
            for ranks in counts:
                with self.subTest(page=made.page.name, launcher=launcher, ranks=ranks):
                    self.assertEqual(launching.differences(alone, launching.results(ranks, arguments, launcher)), [])
        return alone

    def test_types(self):
        for kind in ("DT_FLOAT", "DT_HALF", "DT_BFLOAT16", "DT_DOUBLE"):
            self.same_on_all(sharded_pages.small(kind), 50 if LONG else 10, (1, 2, 4, 8) if LONG else (2, 4))

    def test_shards_that_ranks_do_not_divide(self):
        self.same_on_all(sharded_pages.small(batch=18), 5, (2, 3, 4), shards=6, launchers=LAUNCHERS[:1])

    @unittest.skipUnless(LONG, "takes minutes")
    def test_networks(self):
        for make in (sharded_pages.softmax_regression, sharded_pages.batch_norm_block, sharded_pages.cnn):
            self.same_on_all(make(), 50, (1, 2, 4, 8))

    def test_buckets_leave_early(self):
        """Gradients are on their way while the rest of the backward pass computes."""
        done = launching.run(1, [*self.save(sharded_pages.cnn(8)), "--shards", 2, "--steps", 2, "--verbose", "--quiet"], None)
        early, buckets = map(int, re.search(r"(\d+) of (\d+) buckets were on their way", done.stderr).groups())
        self.assertEqual((early, buckets), (4, 6))

    def test_threads(self):
        made = sharded_pages.softmax_regression()
        arguments = [*self.save(made), "--shards", 8, "--steps", 5]
        one, two = (launching.results(1, [*arguments, "--threads", threads]) for threads in (1, 2))
        self.assertEqual(launching.differences(one, two), [])

    def test_whole_batch(self):
        """Against one process with the whole batch: equal to rounding."""
        for make in (sharded_pages.small, sharded_pages.softmax_regression):
            arguments = [*self.save(make()), "--steps", 20]
            whole, cut = launching.results(1, arguments), launching.results(1, [*arguments, "--shards", 8])
            for name, values in cut.items():
                self.assertLess(abs(values - whole[name]).max(), 2e-5, name)

    def test_one_shard_is_the_page(self):
        arguments = [*self.save(sharded_pages.small()), "--steps", 5]
        whole, one = launching.results(1, arguments), launching.results(1, [*arguments, "--shards", 1])
        self.assertEqual(launching.differences(one, {name: whole[name] for name in one}), [])

    def test_sum(self):
        """The sum over shards of a loss that is a sum is the whole batch's."""
        made = sharded_pages.small()
        for block in made.page.blocks:
            if block["id"] == "loss":
                block["block"] = "Sum"
            if block["id"].startswith("step"):
                block["inputs"]["alpha"]["values"] = [0.01]
        arguments = [*self.save(made, "sum"), "--steps", 5]
        whole, cut = launching.results(1, arguments), launching.results(1, [*arguments, "--shards", 4, "--reduce", "sum"])
        for name, values in cut.items():
            self.assertLess(abs(values - whole[name]).max(), 1e-4, name)


class DrawnTest(BitsTest):
    """A page with a reader and random blocks."""

    def test_types(self):
        made = sharded_pages.read_and_drawn()
        self.same_on_all(made, 50, (1, 2, 4, 8) if LONG else (2, 4))

    def test_rows_in_order(self):
        arguments = self.save(sharded_pages.read_and_drawn().fetch("rows.output", "noise.output"))
        whole = launching.results(1, arguments)
        cut = launching.results(2, [*arguments, "--shards", 4], LAUNCHERS[0]) if LAUNCHERS else launching.results(1, [*arguments, "--shards", 4])
        self.assertEqual(whole["rows.output"].tobytes(), cut["rows.output"].tobytes())
        self.assertEqual(whole["noise.output"].shape, cut["noise.output"].shape)
        parts = [cut["noise.output"][8 * shard:8 * shard + 8] for shard in range(4)]
        self.assertEqual(len({part.tobytes() for part in parts}), 4)  # each shard draws its own
        self.assertEqual(whole["noise.output"][:8].tobytes(), parts[0].tobytes())


for inherited in ("test_buckets_leave_early", "test_shards_that_ranks_do_not_divide", "test_networks", "test_threads", "test_whole_batch", "test_one_shard_is_the_page", "test_sum"):
    setattr(DrawnTest, inherited, None)


class RefusalTest(PageTest):
    """What cannot be cut is refused before the first step, with block and reason."""

    def refused(self, arguments, *words, ranks=1, launcher=None):
        done = launching.run(ranks, arguments, launcher)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done

    def test_rows_that_shards_do_not_divide(self):
        self.refused([*self.save(sharded_pages.small(batch=12)), "--shards", 8], "x.output", "12 rows", "8 shards")

    def test_size_of_the_whole_batch(self):
        made = sharded_pages.cnn(16)
        for block in made.page.blocks:
            if block["id"] == "flat":
                block["inputs"]["shape"]["values"] = [16, 3136]
        self.refused([*self.save(made), "--shards", 8], "flat", "shard", "-1")

    def test_rows_that_are_mixed_up(self):
        """[16, -1] takes a shard's elements, too."""
        made = sharded_pages.small()
        for block in made.page.blocks:
            if block["id"] == "bent":
                block["inputs"]["x"] = made.page.block("flat", "Reshape", "output", tensor="dense0.output", shape=sharded_pages.integers(16, -1))
        self.refused([*self.save(made, "mixed"), "--shards", 4], "flat", "whole batch", "16")

    def test_nothing_to_cut(self):
        self.refused([str(ROOT / "graphs/xor.page.json"), "--shards", 2], "--shard")

    def test_one_row_against_the_whole_batch(self):
        xor = str(ROOT / "graphs/xor.page.json")
        self.refused([xor, "--shards", 4, "--shard", "x.output"], "--shard y.output", "4 rows")
        self.assertEqual(launching.run(1, [xor, "--shards", 4, "--shard", "x.output", "--shard", "y.output"], None).returncode, 0)

    def test_key_of_the_page(self):
        page = json.loads((ROOT / "graphs/xor.page.json").read_text())
        page["shard"] = ["x.output", "y.output"]
        (self.path / "keyed.json").write_text(json.dumps(page))
        named = launching.results(1, [str(ROOT / "graphs/xor.page.json"), "--shards", 2, "--shard", "x.output", "--shard", "y.output"])
        self.assertEqual(launching.differences(named, launching.results(1, [self.path / "keyed.json", "--shards", 2])), [])

    def test_ranks_without_shards(self):
        for launcher in LAUNCHERS[:1]:
            done = self.refused([*self.save(sharded_pages.small()), "--shards", 2], "2 shards", "3 ranks", ranks=3, launcher=launcher)
            self.assertEqual(done.stderr.count("3 ranks"), 1)  # one speaks for all

    def test_random_block_without_seed(self):
        made = sharded_pages.small()
        noise = made.page.block("noise", "RandomNormal", "output", {"dtype": "DT_FLOAT"}, shape=sharded_pages.integers(9))
        made.page.block("noisy", "AssignAdd", "output_ref", ref="b0.ref", value=noise)
        made.session["inputs"]["run_outputs"] = ["noisy.operation"]
        arguments = [*self.save(made, "unseeded"), "--shards", 2]
        self.assertEqual(launching.run(1, arguments, None).returncode, 0)
        for launcher in LAUNCHERS[:1]:
            self.refused(arguments, "noise", "seed", ranks=2, launcher=launcher)

    def test_page_that_differs(self):
        """A rank that has another page, or none, is named, and all end."""
        self.save(sharded_pages.small())
        arguments = ["page.page.json", "--shards", 4, "--feed", f"x.output=@{self.path}/small_float-x.npy", "--feed", f"labels.output=@{self.path}/small_float-labels.npy"]
        page = (self.path / "small_float.page.json").read_text()
        for content, words in ((page.replace("0.25", "0.5"), ["rank 1", "another page"]), (page.replace('"MatMul"', '"MatMull"'), ["rank 1", "MatMull"]), (None, ["rank 1", "page.page.json"])):
            for launcher in LAUNCHERS:
                with self.subTest(words=words, launcher=launcher), tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
                    pathlib.Path(one, "page.page.json").write_text(page)
                    if content is not None:
                        pathlib.Path(other, "page.page.json").write_text(content)
                    script = self.path / "in_folder"
                    script.write_text(f'#!/bin/sh\nif [ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ]; then cd {other}; else cd {one}; fi\nexec {launching.WEFT} run "$@"\n')
                    script.chmod(0o755)
                    words_of_launcher = launching.LAUNCHERS[launcher]
                    done = launching.subprocess.run([*words_of_launcher, "-n", "2", str(script), *map(str, arguments)], capture_output=True, text=True, timeout=60, env=launching.environment())
                    self.assertNotEqual(done.returncode, 0)
                    for word in words:
                        self.assertIn(word, done.stdout + done.stderr)


class CollectiveTest(PageTest):
    """Blocks of collectives, wired by hand: each rank feeds its own values."""

    def job(self, launcher, page, ranks, fed):
        path = page.save(self.path)
        for rank in range(ranks):
            np.save(self.path / f"{rank}.npy", fed(rank))
        script = self.path / "fed"
        script.write_text(f'#!/bin/sh\nR="${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}"\nexec {launching.WEFT} run {path} --feed mine.output=@{self.path}/$R.npy '
                          f'--results {self.path}/result$R.npz --deadline 5 $([ "$R" = 1 ] && cat {self.path}/more)\n')
        script.chmod(0o755)
        (self.path / "more").touch()
        done = launching.subprocess.run([*launching.LAUNCHERS[launcher], "-n", str(ranks), str(script)], capture_output=True, text=True, timeout=60,
                                        env=launching.environment())
        return done, [dict(np.load(self.path / f"result{rank}.npz")) for rank in range(ranks)] if done.returncode == 0 else None

    @staticmethod
    def keys(instance, size=3):
        number = lambda value: {"dtype": "DT_INT32", "shape": [], "values": [value]}  # noqa: E731
        return {"group_size": number(size), "group_key": number(1), "instance_key": number(instance)}

    def page(self, size=3):
        page = sharded_pages.pages.Page("collectives")
        mine = page.block("mine", "Placeholder", "output", {"dtype": "DT_FLOAT"})
        page.block("mean", "CollectiveReduceV2", "data", {"merge_op": "Add", "final_op": "Div"}, input=mine, **self.keys(1, size))
        page.block("most", "CollectiveReduceV2", "data", {"merge_op": "Max", "final_op": "Id"}, input=mine, **self.keys(2, size))
        page.block("rows", "CollectiveGatherV2", "data", {}, input=mine, **self.keys(3, size))
        return page.session("mean.data", "most.data", "rows.data")

    def test_values(self):
        values = [np.arange(6, dtype=np.float32).reshape(2, 3) * (rank + 1) for rank in range(3)]
        for launcher in LAUNCHERS:
            done, results = self.job(launcher, self.page(), 3, values.__getitem__)
            self.assertIsNotNone(results, done.stderr)
            for result in results:
                self.assertTrue(np.allclose(result["mean.data"], sum(values) / 3))
                self.assertTrue((result["most.data"] == values[2]).all())
                self.assertTrue((result["rows.data"] == np.concatenate(values)).all())

    def test_broadcast(self):
        for launcher in LAUNCHERS:
            page = sharded_pages.pages.Page("broadcast")
            mine = page.block("mine", "Placeholder", "output", {"dtype": "DT_FLOAT"})
            sent = page.block("send", "CollectiveBcastSendV2", "data", {}, input=mine, **self.keys(1))
            got = page.block("receive", "CollectiveBcastRecvV2", "data", {"T": "DT_FLOAT"}, shape=sharded_pages.integers(2), **self.keys(1))
            for name, wire in (("sender", sent), ("receiver", got)):
                page.blocks.append({"id": name, "block": "ClientSession", "inputs": {"fetch_outputs": [wire]}})
            path = page.save(self.path)
            np.save(self.path / "mine.npy", np.array([3, 4], np.float32))
            script = self.path / "one_sends"
            script.write_text(f'#!/bin/sh\nR="${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}"\nif [ "$R" = 1 ]; then S=sender; else S=receiver; fi\n'
                              f'exec {launching.WEFT} run {path} --session $S --feed mine.output=@{self.path}/mine.npy --results {self.path}/result$R.npz\n')
            script.chmod(0o755)
            done = launching.subprocess.run([*launching.LAUNCHERS[launcher], "-n", "3", str(script)], capture_output=True, text=True, timeout=60, env=launching.environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            for rank in (0, 2):
                self.assertEqual(np.load(self.path / f"result{rank}.npz")["receive.data"].tolist(), [3, 4])

    def test_ranks_that_differ(self):
        for launcher in LAUNCHERS[:1]:
            done, _ = self.job(launcher, self.page(), 3, lambda rank: np.zeros((2, 3 + (rank == 1)), np.float32))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("rank 1 (", done.stderr)
            self.assertIn("[2,4]", done.stderr)
            done, _ = self.job(launcher, self.page(2), 3, lambda rank: np.zeros((2, 3), np.float32))
            self.assertIn("all 3 processes", done.stderr)


class JobTest(PageTest):
    """A job that goes on until it is disturbed."""

    def start(self, launcher, ranks=3, deadline=2, steps=10**9, extra=()):
        made = sharded_pages.small(batch=48)
        self.process = launching.start(ranks, [*self.save(made), "--shards", 6, "--steps", steps, "--deadline", deadline, *extra], launcher)
        self.addCleanup(self.end)
        self.ranks = launching.wait_for(lambda: (found := launching.ranks_of(self.process)) and len(found) == ranks and found)
        return self.process

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.stdout.close()

    def ended(self, within):
        began = time.monotonic()
        output, _ = self.process.communicate(timeout=within)
        self.assertNotEqual(self.process.returncode, 0, output)
        launching.wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in self.ranks.values()), 10)
        return output, time.monotonic() - began


class FaultTest(JobTest):
    """A rank that dies or stops, at a random moment, ends the job by its deadline; no process is left."""

    rounds = int(os.environ.get("RANKS_ROUNDS", 25 if LONG else 1))

    def disturb(self, sign, launcher, words):
        arguments = [*self.save(sharded_pages.small(batch=48)), "--shards", 6, "--steps", 1]
        whole = launching.cost(lambda: launching.run(3, arguments, launcher))
        for round_number in range(self.rounds):
            chance = random.Random(f"{sign} {launcher} {round_number}")
            with self.subTest(launcher=launcher, signal=sign.name, round=round_number):
                self.start(launcher)
                launching.wait_for_steps(self.ranks, whole)
                time.sleep(chance.random() * 1.5)
                rank = chance.choice(sorted(self.ranks))
                os.kill(self.ranks[rank], sign)
                output, took = self.ended(30)
                self.assertLess(took, 2 + 6)
                for word in words:
                    self.assertIn(word.format(rank=rank), output)

    def test_killed(self):
        for launcher in LAUNCHERS:
            self.disturb(signal.SIGKILL, launcher, ["9"])

    def test_stopped(self):
        for launcher in LAUNCHERS:
            self.disturb(signal.SIGSTOP, launcher, ["rank {rank} (", "does not answer", "step "])

    def test_interrupted(self):
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher):
                self.start(launcher)
                time.sleep(1)
                os.kill(self.process.pid, signal.SIGINT)
                self.ended(30)

    def test_results_that_nobody_takes(self):
        """Rank 0 waits to write them: the others do not wait for ever to leave the job."""
        results = self.path / "results.json"
        os.mkfifo(results)
        arguments = [*self.save(sharded_pages.small()), "--shards", 4, "--deadline", 3, "--results", results]
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher):
                self.process = launching.start(2, arguments, launcher)
                self.ranks = launching.wait_for(lambda: (found := launching.ranks_of(self.process)) and len(found) == 2 and found)
                self.ended(30)

    def test_folder_of_another_run(self):
        """Snapshots of an earlier run are not taken away by one that does not go on from them."""
        folder = self.path / "snapshots"
        arguments = [*self.save(sharded_pages.small()), "--shards", 4, "--snapshots", folder, "--every", 1]
        launching.results(1, [*arguments, "--steps", 5])
        before = sorted(path.name for path in folder.iterdir())
        done = launching.subprocess.run([launching.WEFT, "run", *map(str, arguments), "--steps", "2"], capture_output=True, text=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("has snapshots of an earlier run (--resume goes on from them", done.stderr)
        self.assertEqual(sorted(path.name for path in folder.iterdir()), before)

    def test_late(self):
        """A rank that starts late is waited for; one that is too late ends the job."""
        arguments = [*self.save(sharded_pages.small()), "--shards", 4, "--deadline", 8]
        script = self.path / "late"
        script.write_text(f'#!/bin/sh\n[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ] && sleep "$LATE"\nexec {launching.WEFT} run "$@"\n')
        script.chmod(0o755)
        for launcher in LAUNCHERS[:1]:
            for late, status in ((2, 0), (40, 1)):
                began = time.monotonic()
                done = launching.subprocess.run([*launching.LAUNCHERS[launcher], "-n", "2", str(script), *map(str, arguments)], capture_output=True, text=True,
                                                timeout=60, env={**launching.environment(), "LATE": str(late)})
                self.assertEqual(done.returncode != 0, status != 0, done.stderr)
                if status != 0:
                    self.assertIn("waited 8 s for the other ranks to start", done.stderr)
                    self.assertLess(time.monotonic() - began, 20)


class SnapshotTest(JobTest):
    def arguments(self, folder, steps, every=5):
        return ["--shards", 8, "--steps", steps, "--snapshots", folder, "--every", every]

    def test_resumed(self):
        """Killed at a random step, resumed on another number of ranks: the bits of a run that nobody disturbed."""
        made = sharded_pages.read_and_drawn()
        page = self.save(made)
        steps = 60
        whole = launching.results(1, [*page, "--shards", 8, "--steps", steps])
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher):
                folder = self.path / f"snapshots-{launcher}"
                first = launching.results(2, [*page, *self.arguments(folder, 20)], launcher)
                self.assertNotEqual(launching.differences(first, whole), [])
                self.assertEqual((folder / "LATEST").read_text(), "step-000000000020.weft\n")
                # One that is damaged, although it has the newest name, is passed over.
                (folder / "step-000000000020.weft").write_bytes((folder / "step-000000000020.weft").read_bytes()[:-40])
                resumed = launching.results(4, [*page, *self.arguments(folder, steps), "--resume"], launcher)
                self.assertEqual(launching.differences(resumed, whole), [])
                self.assertEqual(len(list(folder.glob("step-*"))), 2)

    def test_killed_and_resumed(self):
        """Killed again and again, at any moment: what goes on is a whole snapshot, and the end is that of a run that nobody disturbed."""
        steps, every = 3000, 20  # more than are made before it is killed
        page = self.save(sharded_pages.read_and_drawn())
        whole = launching.results(1, [*page, "--shards", 8, "--steps", steps])
        for launcher in LAUNCHERS:
            folder = self.path / f"killed-{launcher}"
            arguments = [*page, *self.arguments(folder, steps, every), "--resume", "--deadline", 10]
            for attempt in range(5 if LONG else 2):
                self.process = launching.start(2, arguments, launcher)
                self.ranks = launching.wait_for(lambda: (found := launching.ranks_of(self.process)) and len(found) == 2 and found)
                launching.wait_for(lambda: self.process.poll() is not None or len(list(folder.glob("step-*"))) > 0)
                time.sleep(0.1 * attempt)
                with contextlib.suppress(ProcessLookupError):  # it may have come to its end
                    os.kill(self.ranks[attempt % 2], signal.SIGKILL)
                self.process.communicate(timeout=30)
            self.assertEqual(launching.differences(launching.results(2, arguments, launcher), whole), [])
            self.assertEqual([path.name for path in folder.iterdir() if path.name.startswith(".")], [])

    def test_full_disk(self):
        """All ranks end, rank 0's file is named, and no half snapshot is left."""
        for launcher in LAUNCHERS[:1]:
            folder = self.path / "full"
            folder.mkdir()
            script = self.path / "small_files"
            script.write_text(f'#!/bin/sh\nulimit -f 1\nexec {launching.WEFT} run "$@"\n')
            script.chmod(0o755)
            page = self.save(sharded_pages.softmax_regression())
            done = launching.subprocess.run([*launching.LAUNCHERS[launcher], "-n", "2", str(script), *map(str, page), *map(str, self.arguments(folder, 20)), "--deadline", "10"],
                                            capture_output=True, text=True, timeout=60, env=launching.environment())
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("step-000000000005.weft", done.stderr)
            self.assertEqual([path.name for path in folder.iterdir()], ["LOCK"])

    def test_two_jobs_on_one_folder(self):
        """The second is refused, with the first one's process, and takes nothing away; when that is killed, another goes on."""
        page = self.save(sharded_pages.small())
        folder = self.path / "snapshots"
        self.process = launching.start(1, [*page, *self.arguments(folder, 10_000_000, 50)], None)
        self.addCleanup(self.end)
        launching.wait_for(lambda: (folder / "LATEST").exists())
        launching.stop(self.process.pid)  # so that its files stay
        unfinished = folder / ".weft-1-0.tmp"
        unfinished.write_text("what the first one writes")
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        for extra in ([], ["--resume"]):
            done = launching.run(1, [*page, *self.arguments(folder, 100), *extra], None)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"snapshots' for snapshots is in use by process {self.process.pid} on ")
            self.assertEqual({path.name: path.read_bytes() for path in folder.iterdir()}, before)
        self.process.kill()
        self.process.wait()
        last = int(re.search(r"\d+", (folder / "LATEST").read_text()).group())
        done = launching.run(1, [*page, *self.arguments(folder, last + 10), "--resume"], None)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"goes on after step {last}", done.stderr)
        self.assertFalse(unfinished.exists())

    def test_folder_that_is_replaced(self):
        """A folder that is moved away while a job writes to it, and made anew by somebody: the job ends, and puts nothing there."""
        page = self.save(sharded_pages.small())
        folder = self.path / "snapshots"
        self.process = launching.start(1, [*page, *self.arguments(folder, 10_000_000, 50)], None)
        self.addCleanup(self.end)
        launching.wait_for(lambda: (folder / "LATEST").exists())
        launching.stop(self.process.pid)
        folder.rename(self.path / "moved")
        folder.mkdir()
        os.kill(self.process.pid, signal.SIGCONT)
        output, _ = self.process.communicate(timeout=30)
        self.assertEqual(self.process.returncode, 1, output)
        self.assertIn("was moved, removed or replaced", output)
        self.assertEqual([path.name for path in folder.iterdir() if path.name == "LATEST"], [])


if __name__ == "__main__":
    program = unittest.main(argv=[sys.argv[0], *sys.argv[1:]], exit=False)
    result = program.result
    if not LAUNCHERS:
        print("ranks: no launcher of MPI is installed (openmpi-bin, mpich): what needs one was left out", file=sys.stderr)
    print(f"ranks: {result.testsRun} tests, {len(result.failures) + len(result.errors)} failed")
    sys.exit(0 if result.wasSuccessful() else 1)
