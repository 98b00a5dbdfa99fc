"""Breakpoints, looking at a paused run, snapshots."""
import pathlib
import tempfile
import time
import unittest

import numpy as np
import weft
from pages import const, counter, doubling, page


class BreakpointsTest(unittest.TestCase):
    def test_before_a_block(self):
        session = weft.load(doubling()).session()
        stop = session.break_before("double")
        session.start(2)
        self.assertEqual(session.wait(), "paused")
        self.assertEqual((session.paused_at[0], session.info.pause_reason), ("double", "breakpoint"))
        self.assertTrue(stop.pauses)
        self.assertEqual(session["x.output"][1, 2], 5)
        with self.assertRaises(weft.Error) as caught:
            session["double.z"]
        self.assertEqual(caught.exception.code, "failed_precondition")
        session.resume()
        self.assertEqual(session.wait(), "paused")
        self.assertEqual(stop.hits, 2)
        stop.close()
        session.resume()
        self.assertEqual(session.wait(), "idle")
        self.assertEqual(session.info.runs, 2)

    def test_a_value_is_replaced(self):
        session = weft.load(doubling()).session()
        session.start(2, until="double")
        session.wait()
        with self.assertRaises(weft.Error) as caught:
            session.override("x.output", np.zeros((2, 3), np.float32))
        self.assertEqual(caught.exception.code, "unsupported")  # a constant
        page_ = weft.load(page(const("x", "DT_FLOAT", [2], [1, 2]), {"id": "a", "block": "Add", "inputs": {"x": "x.output", "y": "x.output"}},
                               {"id": "b", "block": "Add", "inputs": {"x": "a.z", "y": "a.z"}}))
        session = page_.session()
        session.start(1, until="b")
        session.wait()
        session.override("a.z", np.float32([10, 20]))
        session.resume()
        session.wait()
        self.assertEqual(session["b.z"].tolist(), [20, 40])
        self.assertEqual(session.run()["b.z"].tolist(), [4, 8])

    def test_a_run_in_the_foreground_gives_control_back(self):
        session = weft.load(doubling()).session()
        with session.break_before("double"):
            session.run()
            self.assertEqual(session.info.state, "paused")
        session.resume()
        self.assertEqual(session.wait(), "idle")

    def test_on_a_condition(self):
        session = weft.load(counter()).session()
        stop = session.break_if("n.ref >= 7", once=True)
        session.start()
        self.assertEqual(session.wait(), "paused")
        self.assertEqual(session["n.ref"], 7)
        self.assertFalse(stop.enabled)
        session.cancel()
        with self.assertRaises(weft.CancelledError):
            session.wait()

    def test_on_nan(self):
        session = weft.load(page(const("x", "DT_FLOAT", [2], [1, 0]),
                                 {"id": "log", "block": "Log", "inputs": {"x": "x.output"}})).session()
        stop = session.break_not_finite("log")
        session.start(1)
        self.assertEqual(session.wait(), "paused")
        self.assertEqual(session["log.y"][1], -np.inf)
        stop.enabled = False
        session.resume()
        session.wait()

    def test_a_lost_debugger(self):
        session = weft.load(doubling()).session()
        session.break_before("double")
        session.lease(0.2)
        session.heartbeat()
        session.start(1)
        end = time.monotonic() + 10
        while session.wait(0.05) != "idle":
            self.assertLess(time.monotonic(), end)
        with self.assertRaises(weft.Error):
            session.heartbeat()

    def test_what_is_no_place(self):
        session = weft.load(doubling()).session()
        for wrong, code in ((lambda: session.break_before("duble"), "not_found"), (lambda: session.break_if("run >"), "invalid_argument"),
                            (lambda: session["x.output"], "failed_precondition"), (session.heartbeat, "failed_precondition")):
            with self.assertRaises(weft.Error) as caught:
                wrong()
            self.assertEqual(caught.exception.code, code)


class SnapshotsTest(unittest.TestCase):
    def test_save_and_restore(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "state")
            first = weft.load(counter())
            first.run(7)
            saved = first.save_state(path)
            self.assertEqual((saved.variables, saved.resources, saved.bytes), (1, 0, path.stat().st_size))
            first.run(5)
            second = weft.load(counter())
            self.assertEqual(second.restore_state(path).variables, 1)
            self.assertEqual(second.run()["n.ref"], 7)
            first.restore_state(str(path))
            self.assertEqual(first.variable("n"), 7)

    def test_a_file_that_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "state")
            page_ = weft.load(counter())
            for make, code in ((lambda: None, "not_found"), (lambda: path.write_bytes(b"WeftSnap"), "data_loss")):
                make()
                with self.assertRaises(weft.Error) as caught:
                    page_.restore_state(path)
                self.assertEqual(caught.exception.code, code)

    def test_another_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "state")
            page_ = weft.load(counter())
            page_.run()
            page_.save_state(path)
            other = weft.load(doubling())
            with self.assertRaises(weft.Error) as caught:
                other.restore_state(path)
            self.assertIn("n", [found.block for found in caught.exception.diagnostics])
            other.restore_state(path, partial=True)

    def test_a_run_that_goes_on_is_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            page_ = weft.load(counter())
            with page_.session() as session:
                session.start()
                page_.save_state(pathlib.Path(folder, "state"))
                session.cancel()
