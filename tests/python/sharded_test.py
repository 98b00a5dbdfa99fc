"""Pages in shards, and the job of one process. (tests/ranks_test.py has hosts on several.)"""
import os
import pathlib
import signal
import tempfile
import threading
import time
import unittest

import numpy as np
import weft


def line():
    """loss = mean(x * w), and w -= 0.5 * mean(x)."""
    return {"weft": 1, "page": "line", "blocks": [
        {"id": "x", "block": "Placeholder", "attrs": {"dtype": "DT_FLOAT"}},
        {"id": "w", "block": "Variable", "inputs": {"initvalues": weft.literal(1.0)}},
        {"id": "line", "block": "Multiply", "inputs": {"x": "x.output", "y": "w.ref"}},
        {"id": "loss", "block": "Mean", "inputs": {"input": "line.z", "axis": weft.literal([0])}},
        {"id": "gradients", "block": "AddSymbolicGradients", "inputs": {"outputs": ["loss.output"], "inputs": ["w.ref"]}},
        {"id": "train", "block": "ApplyGradientDescent",
         "inputs": {"var": "w.ref", "alpha": weft.literal(0.5), "delta": "gradients.grad_outputs[0]"}},
        {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["loss.output", "line.z"], "run_outputs": ["train.operation"]}}]}


class JobTest(unittest.TestCase):
    def test_alone(self):
        for messages in (None, "none", "auto"):
            with weft.Runtime(messages=messages) as runtime:
                self.assertEqual((runtime.rank, runtime.ranks, runtime.message_library), (0, 1, ""))
                self.assertEqual(runtime.rank_names(), ["this process"])
                runtime.abort_job("nobody waits")

    def test_no_library(self):
        with self.assertRaises(weft.Error) as caught:
            weft.Runtime(messages="/nowhere/libmessages.so")
        self.assertEqual(caught.exception.code, "not_found")

    def test_exception_leaves_a_process_that_is_alone(self):
        with self.assertRaises(KeyError), weft.Runtime(messages="auto"):
            raise KeyError("x")


class ShardedTest(unittest.TestCase):
    def setUp(self):
        self.page = weft.load(line())
        self.addCleanup(self.page.close)

    def test_steps(self):
        with self.page.sharded(shards=2) as run:
            self.assertEqual((run.info.shards, list(run.info.own_shards), run.info.steps), (2, [0, 1], 0))
            self.assertEqual(run.names(), [])
            loss = run.step(feeds={"x.output": [1.0, 2.0, 3.0, 4.0]})["loss.output"]
            self.assertEqual(loss, 2.5)
            self.assertEqual(self.page.variable("w"), -0.25)
            run.run(2, feeds={"x.output": np.array([8, 8], np.float32)})
            self.assertEqual(self.page.variable("w"), -8.25)
            self.assertEqual({name: value.tolist() for name, value in run.results().items()}, {"loss.output": -34.0, "line.z": [-34.0, -34.0]})
            self.assertEqual(loss, 2.5)
            run.step(results=False)
            self.assertEqual(run["line.result_z[1]"], -34)
            progress = run.progress()
            self.assertEqual((progress.steps, progress.slowest, len(progress.compute_ms)), (4, 0, 1))
            self.assertGreaterEqual(progress.step_ms, progress.compute_ms[0])

    def test_bits_do_not_depend_on_feeding(self):
        other = weft.load(line())
        batch = np.random.default_rng(1).standard_normal(12).astype(np.float32)
        with self.page.sharded(shards=4) as one, other.sharded(shards=4, reduce="mean") as two:
            one.feed("x.output", batch)
            one.run(7)
            for _ in range(7):
                two.step(feeds={"x.output": batch.copy()}, results=False)
        self.assertEqual(self.page.variable("w").tobytes(), other.variable("w").tobytes())

    def test_refusals(self):
        with self.assertRaises(ValueError):
            self.page.sharded(reduce="most")
        with self.assertRaises(weft.Error) as caught:
            self.page.sharded(shards=0)
        self.assertEqual((caught.exception.code, caught.exception.port, caught.exception.all_ranks), ("invalid_argument", "shards", True))
        run = self.page.sharded(shards=2)
        with self.assertRaises(weft.Error) as caught:
            run.step(feeds={"x.output": [1.0, 2.0, 3.0]})
        self.assertEqual((caught.exception.block, caught.exception.all_ranks), ("x", True))
        self.assertEqual((run.info.last_status, run.info.all_failed), ("invalid_argument", True))
        with self.assertRaisesRegex(weft.Error, "the run is over"):
            run.step()
        run.close()
        with self.assertRaisesRegex(weft.Error, "was closed"):
            run.step()

    def refused(self, work):
        with self.assertRaises(weft.Error) as caught:
            work()
        return caught.exception.code, caught.exception.all_ranks

    def test_refusals_of_one_rank(self):
        """What is refused before the other ranks are talked to is not known to fail on all."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name, "own.weft")
        alone = "failed_precondition", False
        began, go_on = threading.Event(), threading.Event()
        runtime = weft.Runtime()

        @runtime.add_block(inputs={"x": "DT_FLOAT"}, outputs={"y": "DT_FLOAT"}, shapes=lambda x: x.shape)
        def Wait(x):
            began.set()
            go_on.wait(60)
            return x

        page = runtime.load({"weft": 1, "page": "waits", "blocks": [
            {"id": "x", "block": "Placeholder", "attrs": {"dtype": "DT_FLOAT"}}, {"id": "wait", "block": "Wait", "inputs": {"x": "x.output"}}]})
        run = page.sharded(shards=2, fetch=["wait.y"])
        self.assertEqual(self.refused(lambda: run.save("")), ("invalid_argument", False))
        self.assertEqual(self.refused(lambda: run.load(file)), ("not_found", True))
        self.assertEqual(self.refused(lambda: run.save(file / "nowhere")), ("not_found", True))
        run.feed("x.output", [1.0, 2.0])
        stepping = threading.Thread(target=lambda: self.refused(run.step))
        stepping.start()
        self.assertTrue(began.wait(60))
        for work in (lambda: run.save(file), lambda: run.load(file), lambda: run.save_newest(folder.name), lambda: run.resume(folder.name), run.progress, run.step):
            self.assertEqual(self.refused(work), alone)
        run.cancel()
        go_on.set()
        stepping.join()
        self.assertEqual(self.refused(run.progress), alone)
        run.close()
        self.assertEqual(self.refused(lambda: run.save(file)), alone)
        page.close()
        self.assertEqual(self.refused(lambda: page.sharded(shards=2)), alone)

    def test_refusals_of_all_ranks(self):
        run = self.page.sharded(shards=2)
        self.assertEqual(self.refused(lambda: run.step(feeds={"x.output": [1.0, 2.0, 3.0]})), ("invalid_argument", True))
        self.assertEqual(self.refused(run.progress), ("failed_precondition", True))  # the run is over, on every rank
        faulty = line()
        faulty["blocks"][2]["inputs"]["y"] = "v.ref"
        with weft.load(faulty, keep_faulty=True) as page:
            self.assertEqual(self.refused(lambda: page.sharded(shards=2, fetch=["loss.output"])), ("failed_precondition", True))

    def test_snapshots(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.page.sharded(shards=2) as run:
                self.assertIsNone(run.resume(folder))
                run.run(3, feeds={"x.output": [1.0, 2.0]})
                run.save_newest(folder)
                run.save(pathlib.Path(folder, "own.weft"))
                run.run(2)
            for take in (lambda run: run.resume(folder), lambda run: run.load(pathlib.Path(folder, "own.weft"))):
                with weft.load(line()) as page, page.sharded(shards=2) as run:
                    self.assertIn(take(run), (None, str(pathlib.Path(folder, "step-000000000003.weft"))))
                    self.assertEqual(run.info.steps, 3)
                    run.run(2, feeds={"x.output": [1.0, 2.0]})
                    self.assertEqual(page.variable("w"), self.page.variable("w"))

    def test_cancel(self):
        run = self.page.sharded(shards=2)
        run.step(feeds={"x.output": [1.0, 2.0]})
        timer = threading.Timer(0.3, run.cancel)
        timer.start()
        with self.assertRaises(weft.CancelledError):
            run.run(10_000_000)
        self.assertEqual(run.info.last_status, "cancelled")

    def test_interrupt(self):
        """Ctrl-C ends the step on the main thread."""
        run = self.page.sharded(shards=2)
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))  # a shell's background job ignores it
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            run.run(10_000_000, feeds={"x.output": [1.0, 2.0]})
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(run.info.last_status, "cancelled")


if __name__ == "__main__":
    unittest.main()
