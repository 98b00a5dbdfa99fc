"""Sweeps that are killed, interrupted, stopped or without disk: what is done stays done, and the same command goes on."""
import contextlib
import os
import pty
import random
import resource
import signal
import subprocess
import time
import unittest

from kit import PATIENCE, SweepTest, alive, busy, children, eventually

POINTS = 30_000


class KilledTest(SweepTest):
    def test_killed_ten_times(self):
        """SIGKILL at random moments: each result is there once, and none is lost."""
        self.write_grid(POINTS)
        chance = random.Random(os.environ.get("WEFT_SEED") or time.time_ns())
        known = {}
        for _ in range(10):
            process = self.start()
            goal = self.size() + chance.randrange(1000, 100_000)  # bytes: ten times as many are less than the whole
            eventually(lambda: self.size() >= goal or process.poll() is not None)
            time.sleep(chance.random() * 0.02)
            self.assertIsNone(process.poll(), "the sweep ended before it was killed")
            process.kill()
            process.wait()
            lines = {line["point"]: line for line in self.lines()}
            self.assertEqual(len(lines), len(self.lines()), "a point has two lines")
            self.assertEqual({point: lines.get(point) for point in known}, known, "a line is gone or changed")
            known = lines
        self.assertLess(len(known), POINTS)
        done = self.weft()
        self.assertEqual((done.returncode, done.stderr.replace("cut off a line of the journal that was not whole", "").count("error")), (0, 0))
        self.check_whole(POINTS)

    def test_killed_while_it_begins(self):
        """SIGKILL in the first milliseconds, when the journal is made."""
        self.write_grid(20)
        for i in range(15):
            process = self.start()
            time.sleep(i * 0.004)
            process.kill()
            process.wait()
        self.assertEqual(self.weft().returncode, 0)
        self.check_whole(20)

    def test_no_process_is_left(self):
        self.write_grid(2, steps=1_000_000_000)
        process = self.start("--jobs", "2")
        workers = eventually(lambda: len(children(process.pid)) == 2 and children(process.pid))
        eventually(lambda: all(busy(worker) for worker in workers))  # they are at their points
        process.kill()
        process.wait()
        eventually(lambda: not any(alive(worker) for worker in workers), 5)


class WorkerTest(SweepTest):
    def stopped_at_a_point(self, number, **more):
        """A sweep of three points of which the first never ends, and the process that runs it, after a signal."""
        self.write_grid(3, steps=1_000_000_000, **more)
        process = self.start("--jobs", "1")
        worker = eventually(lambda: children(process.pid))[0]
        eventually(lambda: busy(worker))
        os.kill(worker, number)
        return process

    def test_a_process_that_is_killed_is_a_failed_point(self):
        process = self.stopped_at_a_point(signal.SIGKILL)
        line = eventually(self.lines)[0]
        self.assertEqual(line["error"]["code"], "resource_exhausted")
        self.assertIn("was killed: the machine had no memory left for it, or somebody killed it", line["error"]["message"])
        self.assertIsNone(process.poll(), "the sweep goes on with the next point")

    def test_a_process_that_crashes_is_a_failed_point(self):
        self.stopped_at_a_point(signal.SIGSEGV)
        line = eventually(self.lines)[0]
        self.assertEqual(line["point"], 0)
        self.assertIn("crashed: Segmentation fault", line["error"]["message"])

    def test_a_process_that_hangs_is_ended(self):
        """Stopped, it cannot keep the time limit itself."""
        self.stopped_at_a_point(signal.SIGSTOP, time_limit=4)
        line = eventually(self.lines)[0]
        self.assertRegex(line["error"]["message"], "took longer than the 4 s of the grid's time_limit, and did not heed it")

    def test_the_others_are_run(self):
        """Processes are killed all the time, ten points fail, and each point has its line; --retry mends them."""
        self.write_grid(3000, steps=500)
        process = self.start("--jobs", "2")
        for _ in range(10):
            before = self.size()
            eventually(lambda: self.size() > before + 2000 or process.poll() is not None)
            self.assertIsNone(process.poll(), "the sweep ended before its processes were killed")
            worker = eventually(lambda: children(process.pid))[0]
            os.kill(worker, signal.SIGKILL)
        process.communicate()
        self.assertEqual(process.returncode, 1)
        lines = self.lines()
        self.assertEqual(sorted(line["point"] for line in lines), list(range(3000)))
        self.assertLessEqual(sum("error" in line for line in lines), 10)
        self.assertEqual(self.weft("--retry").returncode, 0)
        last = {line["point"]: line for line in self.lines()}
        self.assertFalse([point for point, line in last.items() if "error" in line])


class InterruptedTest(SweepTest):
    def test_signals(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            self.journal.unlink(missing_ok=True)
            self.write_grid(POINTS)
            process = self.start("--jobs", "1")  # so that it is not at its end by then
            eventually(lambda: self.size() > 5000)
            process.send_signal(number)
            said = process.communicate()
            self.assertEqual(process.returncode, status)
            self.assertIn("interrupted; what is done is in", said[1])
            self.assertEqual(self.weft().returncode, 0)
            self.check_whole(POINTS)

    def test_two_at_once(self):
        """A journal has one writer."""
        self.write_grid(2, steps=1_000_000_000)
        self.start()
        eventually(lambda: self.size() > 0)
        second = self.weft()
        self.assertEqual(second.returncode, 1)
        self.assertIn("another process writes to the journal", second.stderr)
        self.assertIn("0 of 2 points done", self.weft("--status").stdout)

    def test_full_disk(self):
        """Where the journal cannot grow, the sweep ends with the reason; the lines that it has are whole, and it goes on later."""
        self.write_grid(2000)
        limit = 50_000
        done = self.weft(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "the journal '.*' could not be written: .*the same command continues")
        self.assertTrue(self.journal.read_bytes().endswith(b"}\n"))
        self.assertGreater(len(self.lines()), 50)
        self.assertEqual(self.weft().returncode, 0)
        self.check_whole(2000)


class MovedTest(SweepTest):
    """A journal that is moved, removed or replaced while a sweep writes to it."""

    def begun(self):
        self.journal.unlink(missing_ok=True)
        self.write_grid(3000, steps=2000)
        process = self.start("--jobs", "2")
        eventually(lambda: self.size() > 2000)
        self.assertIsNone(process.poll())
        return process

    def ended(self, process):
        said = process.communicate()
        self.assertEqual(process.returncode, 1, said)
        self.assertRegex(said[1], "the journal '.*fit.sweep.jsonl' was moved, removed or replaced while this process wrote to it")

    def test_moved_and_begun_anew(self):
        """Another sweep makes a journal of that name, and has it for itself; the first says what has become of its points."""
        process = self.begun()
        moved = self.folder / "moved.jsonl"
        self.journal.rename(moved)
        self.ended(process)
        first = moved.read_bytes()
        self.assertTrue(first.endswith(b"}\n"))
        self.write_grid(3000)
        self.assertEqual(self.weft("--jobs", "2").returncode, 0)
        self.check_whole(3000)
        self.assertEqual(moved.read_bytes(), first)

    def test_put_back(self):
        process = self.begun()
        moved = self.folder / "moved.jsonl"
        self.journal.rename(moved)
        self.ended(process)
        moved.rename(self.journal)
        known = {line["point"]: line for line in self.lines()}
        process = self.start("--jobs", "2")
        eventually(lambda: len(self.lines()) > len(known) + 10)
        process.send_signal(signal.SIGINT)
        process.communicate()
        lines = {line["point"]: line for line in self.lines()}
        self.assertEqual(len(lines), len(self.lines()), "a point has two lines")
        self.assertEqual({point: lines.get(point) for point in known}, known)

    def test_removed_or_replaced(self):
        process = self.begun()
        self.journal.unlink()
        self.ended(process)
        process = self.begun()
        copy = self.folder / "copy"
        copy.write_bytes(b"another file")
        copy.rename(self.journal)
        self.ended(process)
        self.assertEqual(self.journal.read_bytes(), b"another file")

    def test_moved_at_the_end(self):
        """Also where nothing is written after."""
        self.write_grid(2, steps=1_000_000_000)
        process = self.start("--jobs", "1")
        eventually(lambda: children(process.pid))
        self.journal.rename(self.folder / "moved.jsonl")
        process.send_signal(signal.SIGINT)
        self.ended(process)

    def test_the_moved_one_has_its_lock(self):
        """Another sweep that is given the moved file is refused."""
        self.write_grid(2, steps=1_000_000_000)
        process = self.start()
        eventually(lambda: children(process.pid))  # those are started once the journal is locked
        moved = self.folder / "moved.jsonl"
        self.journal.rename(moved)
        second = self.weft("--journal", str(moved))
        self.assertEqual(second.returncode, 1)
        self.assertIn("another process writes to the journal", second.stderr)


class ProgressTest(SweepTest):
    def test_a_terminal_shows_how_far_it_is(self):
        """In a pipe, nothing; on a terminal how many points are done, how fast, and the time that is left."""
        self.write_grid(6, steps=1_000_000_000, time_limit=0.5)
        ours, its = pty.openpty()
        self.addCleanup(os.close, ours)
        process = subprocess.Popen(self.command("--jobs", "1"), stderr=its, stdout=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"})
        os.close(its)
        said = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while part := os.read(ours, 4096):
                said += part
        self.assertEqual(process.wait(), 1)
        self.assertRegex(said.decode(), r"0 of 6 points done, [1-5] failed, [0-9.]+ points/s, [1-9] s left")
        self.assertNotIn("left", self.weft("--retry").stderr)


class RateTest(SweepTest):
    def test_a_millisecond_a_point(self):
        """Small pages run many to a process: 10,000 points take less than a millisecond each, start and journal included."""
        self.write_grid(POINTS)
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = self.weft()
        seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"\n{POINTS:,} points in {seconds:.2f} s, {1000 * seconds / POINTS:.3f} ms each, of processors {1000 * busy / POINTS:.3f} ms")
        self.assertLess(min(seconds, busy) / POINTS, 0.001 * PATIENCE)  # (a busy machine is no finding)
        self.check_whole(POINTS)


if __name__ == "__main__":
    unittest.main()
