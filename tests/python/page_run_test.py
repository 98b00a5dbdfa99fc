"""Whole pages that run: all sessions of a page."""
import gc
import threading
import time
import unittest

import numpy as np
import weft
from pages import GRAPHS, counter, doubling, long_product


def looping():
    """"count" counts for ever; "once" computes a constant."""
    blocks = counter()
    blocks["blocks"][-1].update(id="count", attrs="INFINITE_LOOP_ = true;")
    blocks["blocks"][-1]["inputs"]["run_outputs"] = ["up.operation"]
    blocks["blocks"] += [{"id": "x", "block": "Const", "inputs": {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}}},
                         {"id": "once", "block": "ClientSession", "inputs": {"fetch_outputs": ["x.output"]}}]
    return blocks


class PageRunTest(unittest.TestCase):
    def test_sessions_and_results(self):
        with weft.load(looping()).open_run() as run:
            self.assertEqual(run.sessions, ["count", "once"])
            self.assertEqual(run.names(), ["n.ref", "up.output_ref", "x.output"])
            self.assertEqual(dict(run.results()), {})
            self.assertIs(run.run(5), run)
            self.assertEqual(run["n.ref"], 4)
            results = run.results()
            self.assertEqual(list(results), run.names())
            self.assertEqual(results["x.output"].tolist(), [1, 2])
            self.assertEqual(list(run.results(["x.output"])), ["x.output"])
            with self.assertRaises(weft.Error):
                run.results(["y.output"])
            with self.assertRaises(weft.Error):
                run["y.output"]
        np.testing.assert_array_equal(results["x.output"], [1, 2])

    def test_a_page_of_one_default_session(self):
        with weft.load(doubling()).open_run(keep="asked") as run:
            self.assertEqual(run.sessions, ["default"])
            self.assertEqual(run.run().names(), ["double.z"])
            self.assertEqual(run["double.z"][0, 1], 2)

    def test_what_loops_runs_until_it_is_stopped(self):
        with weft.load(looping()).open_run() as run:
            run.start()
            while run.session("count").info.runs < 20 or run.session("once").info.runs == 0:
                self.assertEqual(run.wait(0), "running")
            self.assertEqual(run.session("once").info.runs, 1)
            self.assertGreater(int(run["n.ref"]), 0)
            run.stop()
            self.assertEqual(run.wait(), "idle")
            run.start()
            self.assertEqual(run.wait(0.05), "running")
            run.cancel()
            with self.assertRaises(weft.CancelledError):
                run.wait()

    def test_a_deadline_leaves_the_steps_to_the_page(self):
        with weft.load(looping()).open_run() as run:
            with self.assertRaises(weft.CancelledError):
                run.run(deadline=0.2)
            self.assertGreater(run.session("count").info.runs, 10)
            self.assertEqual(run.session("once").info.runs, 1)

    def test_from_another_thread(self):
        with weft.load(looping()).open_run() as run:
            done = []
            thread = threading.Thread(target=lambda: done.append(run.run(3)["x.output"].tolist()))
            thread.start()
            thread.join()
            self.assertEqual(done, [[1, 2]])

    def test_its_sessions_are_watched_and_paused(self):
        with weft.load(looping()).open_run() as run:
            count = run.session()
            self.assertIs(count, run.session("count"))
            seen = []
            count.on_event(lambda event: seen.append(event.run), "run", interval=0)
            with count.subscribe("n.ref") as values, count.break_if("run >= 3"):
                run.start()
                while count.info.state != "paused":
                    time.sleep(0.001)
                self.assertEqual(run.wait(0), "running")
                self.assertEqual(values.samples()[-1].run, 2)
                run.cancel()
                with self.assertRaises(weft.CancelledError):
                    run.wait()
            self.assertIn(2, seen)
            with self.assertRaises(weft.Error) as caught:
                run.session("coun")
            self.assertEqual(caught.exception.code, "not_found")

    def test_a_session_outlives_the_name_of_its_run(self):
        session = weft.load(looping()).open_run().session("once")
        gc.collect()
        session.run()
        self.assertEqual(session["x.output"].tolist(), [1, 2])

    def test_closed_while_it_runs(self):
        run = weft.load(looping()).open_run()
        called = []
        run.session().on_event(called.append, "run", interval=0)
        run.start()
        while not called:
            time.sleep(0.001)
        run.close()
        run.close()
        with self.assertRaises(weft.Error) as caught:
            run.run()
        self.assertEqual(caught.exception.code, "failed_precondition")

    def test_left_while_it_runs(self):
        run = weft.load(long_product()).open_run()
        run.start()
        del run
        start = time.monotonic()
        gc.collect()
        self.assertLess(time.monotonic() - start, 2)

    def test_faults_and_wrong_use(self):
        wrong = doubling()
        wrong["blocks"][1]["inputs"]["x"] = "nothing.output"
        with weft.load(wrong, keep_faulty=True) as page_:
            with self.assertRaises(weft.Error) as caught:
                page_.open_run()
            self.assertEqual(caught.exception.diagnostics[-1].block, "double")
        with self.assertRaises(ValueError):
            weft.load(doubling()).open_run(keep="some")
        with weft.load(doubling()).open_run() as run, self.assertRaises(weft.Error):
            run.run(-2)

    def test_handles_are_no_arrays(self):
        page_ = weft.load(GRAPHS / "queue.page.json")
        with page_.open_run() as run:
            results = run.run(3).results()
            self.assertEqual(results.handles, ["queue.handle"])
            self.assertEqual(set(dict(results)), set(run.names()) - {"queue.handle"})
