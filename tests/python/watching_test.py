"""What a session shows while it runs: events by queue and by callback, subscriptions."""
import gc
import select
import sys
import threading
import time
import unittest

import numpy as np
import weft
from pages import const, counter, doubling, page


def until(events, true, seconds=10):
    """Events up to one of which `true` holds, and those that came with it."""
    found, end = [], time.monotonic() + seconds
    while time.monotonic() < end and events.wait(end - time.monotonic()):
        new = events.poll()
        found += new
        if any(map(true, new)):
            return found
    raise AssertionError(f"did not come among {found}")


class EventsTest(unittest.TestCase):
    def test_states_and_runs(self):
        with weft.load(counter()).session() as session, session.events("state", "run") as events:
            session.start(3)
            found = until(events, lambda event: event.state == "idle" and event.run == 0 and event.seq > 1)
            states = [event.state for event in found if event.kind == "state"]
            self.assertEqual((states[0], states[-1]), ("idle", "idle"))
            self.assertIn("running", states)
            found += events.poll()
            self.assertEqual([event.run for event in found if event.kind == "run"][-1], 3)
            self.assertTrue(all(event.source is session for event in found))
            self.assertEqual(sorted(event.seq for event in found), [event.seq for event in found])

    def test_iteration_ends_at_an_interrupt(self):
        session = weft.load(counter()).session()
        with session.events("run") as events:
            session.start(interval=0.002)
            runs = []
            for event in events:
                runs.append(event.run)
                if len(runs) == 3:
                    events.interrupt()
            self.assertGreaterEqual(len(runs), 3)
            self.assertEqual(runs, sorted(runs))
            threading.Timer(0.05, events.interrupt).start()
            session.cancel()
            start = time.monotonic()
            for _ in events:
                pass
            self.assertLess(time.monotonic() - start, 5)
        session.close()

    def test_wait_ends_in_time(self):
        with weft.Events() as events:
            start = time.monotonic()
            self.assertFalse(events.wait(0.12))
            self.assertGreaterEqual(time.monotonic() - start, 0.11)
            self.assertFalse(events.wait(0))
            self.assertEqual(events.poll(), [])

    def test_errors_say_where(self):
        session = weft.load(page(const("x", "DT_INT32", [1], [1]), const("by", "DT_INT32", [1], [0]),
                                 {"id": "ratio", "block": "Div", "inputs": {"x": "x.output", "y": "by.output"}})).session()
        with session.events("error") as events:
            with self.assertRaises(weft.Error):
                session.run()
            error = until(events, lambda event: event.kind == "error")[0]
            self.assertEqual((error.code, error.block), ("invalid_argument", "ratio"))
            self.assertTrue(error.text)

    def test_many_sessions_one_queue_and_a_file_descriptor(self):
        sessions = [weft.load(counter()).session() for _ in range(3)]
        with weft.Events() as events:
            for session in sessions:
                events.add(session, "run")
            self.assertEqual(select.select([events], [], [], 0)[0], [])
            for session in sessions:
                session.run()
            self.assertEqual(select.select([events], [], [], 5)[0], [events])
            sources = {event.source for event in until(events, lambda event: event.source is sessions[2])}
            self.assertIn(sessions[2], sources)
            events.remove(sessions[0])
            events.poll()
            sessions[0].run()
            self.assertEqual(events.poll(), [])
            with self.assertRaises(weft.Error):
                events.remove(sessions[0])

    def test_a_queue_that_nobody_drains_says_what_it_dropped(self):
        session = weft.load(counter()).session()
        with session.events("state", most_events=16) as events:
            for _ in range(40):
                session.run()
            found = events.poll()
            self.assertLess(len(found), 40)
            self.assertEqual(sum(event.dropped.get("state", 0) for event in found) + sum(event.kind == "state" for event in found),
                             max(event.seq for event in found))

    def test_polled_events_come_again(self):
        session = weft.load(counter()).session()
        with session.events("state") as events:
            session.run(2)
            polled = events.poll()
            again, missed = events.replay(polled[1].seq)
            self.assertEqual((again, missed), (polled[1:], 0))
            self.assertEqual(events.replay(polled[-1].seq + 5), ([], 0))
            for wrong in (-1, 1 << 64):
                with self.assertRaises(ValueError):
                    events.replay(from_seq=wrong)

    def test_callbacks(self):
        session = weft.load(counter()).session()
        told = []
        session.on_event(lambda event: told.append((event.kind, event.progress, event.run, event.source is session)), "run", interval=0)
        session.run(2)
        self.assertEqual(told, [("run", kind, run, True) for run in (1, 2) for kind in ("began", "ended")])
        # What is wrong is told, and the callback before stays.
        with self.assertRaises(ValueError):
            session.on_event(lambda event: told.append("other"), "no kind")
        with self.assertRaises(TypeError):
            session.on_event("no function", "run")
        session.run()
        self.assertEqual(len(told), 6)
        self.assertNotIn("other", told)
        session.on_event(None)
        session.run()
        self.assertEqual(len(told), 6)

    def test_a_callback_that_raises_harms_no_run(self):
        session = weft.load(counter()).session()
        caught, hook = [], sys.unraisablehook
        sys.unraisablehook = lambda failure: caught.append(failure.exc_type)
        try:
            session.on_event(lambda event: 1 / 0, "run")
            session.run()
        finally:
            sys.unraisablehook = hook
        self.assertIn(ZeroDivisionError, caught)
        self.assertEqual(session["n.ref"], 0)

    def test_what_is_no_kind(self):
        session = weft.load(counter()).session()
        with self.assertRaisesRegex(ValueError, "progress"):
            session.events("runs")
        with self.assertRaises(ValueError):
            weft.Events().poll(0)


class SubscriptionsTest(unittest.TestCase):
    def setUp(self):
        self.session = weft.load(counter()).session()

    def test_each(self):
        each = self.session.subscribe("n.ref", "each")
        self.session.run(5)
        samples = each.samples()
        self.assertEqual([int(sample.value) for sample in samples], [0, 1, 2, 3, 4])
        self.assertEqual([(sample.run, sample.name, sample.dropped) for sample in samples], [(run, "n.ref", 0) for run in range(1, 6)])

    def test_last_is_not_a_copy_and_never_changes(self):
        self.session.subscribe("n.ref")  # the session keeps it
        gc.collect()
        self.session.run(3)
        sample, = self.session.samples()
        self.session.run(3)
        self.assertEqual((int(sample.value), sample.run), (2, 3))
        self.assertEqual(sample.value.ctypes.data, sample.view.address)

    def test_reductions(self):
        mean, spread = self.session.subscribe("n.ref", "mean", interval=1e-9), self.session.subscribe("n.ref", "min_max", interval=1e-9)
        tenth = self.session.subscribe("n.ref", "decimate", every=10)
        self.session.run(20)
        self.assertTrue(all(sample.value.dtype == np.float64 for sample in mean.samples()))
        self.assertTrue(all(sample.value <= sample.high for sample in spread.samples()))
        self.assertEqual([int(sample.value) for sample in tenth.samples()], [0, 10])

    def test_histogram(self):
        session = weft.load(doubling(shape=(8,))).session()
        counts = session.subscribe("double.z", "histogram", bins=4)
        session.run()
        sample, = counts.samples()
        self.assertEqual((sample.value.tolist(), sample.lowest, sample.highest, sample.not_finite), ([2, 2, 2, 2], 0, 14, 0))

    def test_an_event_tells_when_to_come(self):
        with self.session.events("values") as events, self.session.subscribe("n.ref") as last:
            self.session.run()
            until(events, lambda event: event.kind == "values")
            self.assertEqual(len(last.samples()), 1)
        self.session.run()
        self.assertEqual(self.session.samples(), [])

    def test_thinned(self):
        session = weft.load(doubling(shape=(100,))).session()
        few = session.subscribe("double.z", "each", max_bytes=40)
        session.run()
        sample, = few.samples()
        self.assertEqual(sample.stride, 10)
        np.testing.assert_array_equal(sample.value, np.arange(0, 200, 20))

    def test_names_follow_renames(self):
        edited = weft.load(counter())
        with edited.session() as session:
            subscription = session.subscribe("n.ref")
            edited.rename("n", "number")
            session.run()
            self.assertEqual([sample.name for sample in subscription.samples()], ["number.ref"])
            self.assertEqual(subscription.name, "number.ref")
            subscription.close()
            self.assertEqual(subscription.name, "number.ref")

    def test_what_cannot_be_subscribed(self):
        with self.assertRaisesRegex(ValueError, "histogram"):
            self.session.subscribe("n.ref", "median")
        with self.assertRaises(weft.Error) as caught:
            self.session.subscribe("m.ref")
        self.assertEqual(caught.exception.code, "not_found")
