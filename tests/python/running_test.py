"""Runs: variables, steps, control from threads and by Ctrl-C, errors, pages as documents."""
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
import weft
from pages import XOR, const, counter, doubling, long_product, page


class RunTest(unittest.TestCase):
    def test_training(self):
        """The first example of the package's help."""
        self.assertLess(weft.load(XOR).run(2000)["loss.output"], 0.01)

    def test_variables_stay_from_call_to_call(self):
        page_ = weft.load(counter())  # a run reads what the last one left
        self.assertEqual([int(page_.run()["n.ref"]) for _ in range(3)], [0, 1, 2])
        self.assertEqual(page_.variable("n"), 3)
        page_.set_variable("n", 10)
        self.assertEqual(page_.run(5)["n.ref"], 14)
        self.assertEqual(page_.variable("n"), 15)

    def test_only_what_is_fetched(self):
        page_ = weft.load(doubling())
        self.assertEqual(list(page_.run(fetch=["double.z"])), ["double.z"])
        self.assertEqual(list(page_.run(fetch="x.output")), ["x.output"])

    def test_sources(self):
        text = XOR.read_bytes()
        with weft.load(text, name="xor") as from_bytes, weft.load(str(XOR)) as from_path:
            self.assertEqual(from_bytes.to_json(), from_path.to_json())
            self.assertEqual(from_bytes.to_json().encode(), text)
            self.assertEqual(from_bytes.sessions, ["run"])
            self.assertIn("loss", from_bytes.blocks)
            self.assertEqual(from_bytes.diagnostics, [])

    def test_same_bits_on_any_number_of_threads(self):
        losses = []
        for threads in (1, 2, 5):
            with weft.Runtime(threads=threads) as runtime:
                losses.append(runtime.load(XOR).run(50)["loss.output"].tobytes())
        self.assertEqual(len(set(losses)), 1)

    def test_blocks_help(self):
        with weft.Runtime() as runtime:
            self.assertGreater(len(runtime.blocks()), 400)
            self.assertEqual(runtime.block("Mul")["block"], "Multiply")
            self.assertIn("cancelled", [code["name"] for code in weft.codes()["codes"]])
            self.assertRegex(runtime.block_markdown("Mul"), "^#+ Multiply\n")
            self.assertRegex(runtime.blocks_hash(), "^[0-9a-f]{16}$")

    def test_prints(self):
        told = []
        printing = page(const("x", "DT_FLOAT", [2], [1, 2]),
                        {"id": "say", "block": "Print", "attrs": "message_ = \"x is \";",
                         "inputs": {"input": "x.output", "data": ["x.output"]}})
        weft.load(printing, on_print=told.append).run()
        self.assertEqual(len(told), 1)
        self.assertIn("x is", told[0])


class ControlTest(unittest.TestCase):
    def test_deadline(self):
        session = weft.load(counter()).session()
        with self.assertRaises(weft.CancelledError) as caught:
            session.run(weft.UNTIL_STOPPED, deadline=0.1)
        self.assertEqual(caught.exception.code, "cancelled")
        self.assertGreater(session.info.runs, 10)

    def test_cancel_from_another_thread(self):
        session = weft.load(long_product()).session()
        threading.Timer(0.3, session.cancel).start()
        with self.assertRaises(weft.CancelledError):
            session.run(weft.UNTIL_STOPPED)
        start = time.monotonic()
        self.assertEqual(session.info.state, "idle")
        self.assertLess(time.monotonic() - start, 1)

    def test_one_start_is_cancelled(self):
        session = weft.load(counter()).session()
        session.start()
        first = session.info.start
        session.stop()
        session.wait()
        session.start()
        with self.assertRaises(weft.Error) as caught:
            session.cancel(first)
        self.assertEqual(caught.exception.code, "failed_precondition")
        self.assertEqual(session.info.state, "running")
        session.cancel(session.info.start)
        with self.assertRaises(weft.CancelledError):
            session.wait()

    def test_in_the_background(self):
        session = weft.load(counter()).session()
        session.start()
        while session.info.runs < 100:
            self.assertEqual(session.info.state, "running")
        session.pause()
        self.assertEqual(session.wait(), "paused")
        runs = session.info.runs
        self.assertLessEqual(int(session["n.ref"]), runs)
        session.step_run()
        self.assertEqual(session.wait(), "paused")
        self.assertIn(session.info.runs, (runs, runs + 1))
        session.resume()
        session.stop()
        self.assertEqual(session.wait(), "idle")
        session.close()

    def test_block_by_block(self):
        session = weft.load(doubling()).session()
        session.start(1, until="double")
        self.assertEqual(session.wait(), "paused")
        self.assertEqual((session.paused_at[0], session.info.pause_reason), ("double", "reached"))
        session.step_block()
        session.wait()
        session.resume() if session.info.state == "paused" else None
        self.assertEqual(session.wait(), "idle")
        self.assertEqual(session["double.z"][0, 1], 2)

    def test_runs_in_threads(self):
        """Sessions run side by side: the interpreter is free while the engine works."""
        page_ = weft.load(doubling())
        done = []

        def work():
            with page_.session() as session:
                for _ in range(50):
                    done.append(session.run()["double.z"][1, 2])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(done, [10] * 200)

    def test_a_deadline_that_has_passed(self):
        with self.assertRaises(weft.CancelledError):
            weft.load(doubling()).session().run(deadline=1e-10)

    def test_interval(self):
        session = weft.load(counter()).session()
        start = time.monotonic()
        session.run(5, interval=0.02)
        self.assertGreaterEqual(time.monotonic() - start, 0.08)

    def interrupted(self, page_name, steps):
        """Ctrl-C half a second into a run: how the program ended, what it said, and how soon."""
        # Where tests are started in the background, Ctrl-C is ignored unless a program says otherwise.
        program = (f"import signal, sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\n"
                   "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                   f"import pages, weft\npage = weft.load(pages.{page_name}())\nprint('ready', flush=True)\n"
                   f"try:\n  page.run({steps})\nexcept KeyboardInterrupt:\n  print('interrupted')\n")
        child = subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE, text=True)
        try:
            child.stdout.readline()
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            start = time.monotonic()
            said = child.communicate(timeout=60)[0]
            return child.returncode, said.strip(), time.monotonic() - start
        finally:
            child.kill()

    def test_control_c_ends_a_long_run(self):
        code, said, seconds = self.interrupted("counter", "weft.UNTIL_STOPPED")
        self.assertEqual((code, said), (0, "interrupted"))
        self.assertLess(seconds, 2)

    def test_control_c_ends_a_long_block(self):
        code, said, seconds = self.interrupted("long_product", "weft.UNTIL_STOPPED")
        self.assertEqual((code, said), (0, "interrupted"))
        self.assertLess(seconds, 2)


class ErrorsTest(unittest.TestCase):
    def test_a_wrong_page(self):
        wrong = doubling()
        wrong["blocks"][1]["inputs"]["x"] = "y.output"
        wrong["blocks"][1]["inputs"]["y"] = "z.output"
        with self.assertRaises(weft.Error) as caught:
            weft.load(wrong)
        error = caught.exception
        self.assertEqual((error.block, error.port, error.pointer), ("double", "x", "/blocks/1/inputs/x"))
        self.assertIn("did you mean", error.hint)
        self.assertEqual([found.port for found in error.diagnostics if found.severity == "error"], ["x", "y"])
        self.assertIn("double.x", str(error))
        self.assertEqual(error.phase, "connect")
        with weft.load(wrong, keep_faulty=True) as page_:
            self.assertEqual(len(page_.diagnostics), 2)

    def test_no_page(self):
        for source in ("/no/such/page.json", b"{", b"", {"weft": 99}):
            with self.assertRaises(weft.Error):
                weft.load(source)

    def test_unknown_names(self):
        page_ = weft.load(doubling())
        with self.assertRaises(weft.Error) as caught:
            page_.run(fetch=["duble.z"])
        self.assertEqual(caught.exception.code, "not_found")
        session = page_.session()
        with self.assertRaises(weft.Error) as caught:
            session["double.z"]
        self.assertEqual(caught.exception.code, "failed_precondition")
        with self.assertRaises(weft.Error):
            session.feed("x.putput", [1.0])

    def test_a_feed_of_another_type(self):
        with self.assertRaises(weft.Error) as caught:
            weft.load(doubling()).run(feeds={"x.output": np.zeros((2, 3))})
        self.assertEqual(caught.exception.code, "invalid_argument")

    def test_a_block_that_fails(self):
        session = weft.load(page(const("x", "DT_INT32", [2], [1, 2]), const("by", "DT_INT32", [2], [1, 1]),
                                 {"id": "ratio", "block": "Div", "inputs": {"x": "x.output", "y": "by.output"}})).session()
        session.run()
        with self.assertRaises(weft.Error) as caught:
            session.run(feeds={"by.output": np.int32([1, 0])})
        self.assertEqual((caught.exception.code, caught.exception.block), ("invalid_argument", "ratio"))
        self.assertEqual(session["ratio.z"].tolist(), [1, 2])

    def test_closed(self):
        page_ = weft.load(doubling())
        session = page_.session()
        session.close()
        session.close()
        with self.assertRaises(weft.Error) as caught:
            session.run()
        self.assertEqual(caught.exception.code, "failed_precondition")
        page_.close()
        with self.assertRaises(weft.Error):
            page_.to_json()

    def test_files_outside(self):
        reading = page(const("name", "DT_STRING", [], [""]), {"id": "read", "block": "ReadFile", "inputs": {"filename": "name.output"}})
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "note").write_bytes(b"hello")
            reading["blocks"][0]["inputs"]["value"]["values"] = [os.path.join(folder, "note")]
            with self.assertRaises(weft.Error) as caught:
                weft.load(reading).run()
            self.assertEqual(caught.exception.code, "permission_denied")
            self.assertEqual(weft.load(reading, allow=[folder]).run()["read.contents"], b"hello")

    def test_one_folder_is_no_list_of_its_letters(self):
        text = {"dtype": "DT_STRING", "shape": [], "values": ["hello"]}
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            for place, allowed in ((folder, True), (other, False)):
                name = {"dtype": "DT_STRING", "shape": [], "values": [os.path.join(place, "note")]}
                writing = page({"id": "write", "block": "WriteFile", "inputs": {"filename": name, "contents": text}},
                               {"id": "run", "block": "ClientSession", "inputs": {"run_outputs": ["write.operation"]}})
                reading = page({"id": "read", "block": "ReadFile", "inputs": {"filename": name}})
                pathlib.Path(place, "note").write_bytes(b"old")
                for one in (folder, pathlib.Path(folder), [folder]):
                    for load in (lambda: weft.load(writing, write=one), lambda: weft.load(reading, allow=one)):
                        if allowed:
                            load().run()
                            continue
                        with self.assertRaises(weft.Error) as caught:
                            load().run()
                        self.assertEqual(caught.exception.code, "permission_denied")
                self.assertEqual(pathlib.Path(place, "note").read_bytes(), b"hello" if allowed else b"old")

    def test_one_name_is_no_list_of_its_letters(self):
        page_ = weft.load(doubling())
        session = page_.session(fetch="double.z", keep="asked").run()
        self.assertEqual(session.names(), ["double.z"])
        self.assertEqual(list(session.results("double.z")), ["double.z"])
        with page_.open_run() as run:
            self.assertEqual(list(run.run().results("double.z")), ["double.z"])
        counting = weft.load(counter())
        counting.session(fetch="n.ref", operations="up").run()
        self.assertEqual(counting.variable("n"), 1)
        name = {"dtype": "DT_STRING", "shape": [], "values": ["x"]}
        reading = page({"id": "read", "block": "ReadFile", "inputs": {"filename": name}})
        with self.assertRaisesRegex(weft.Error, "it is on the list of refused blocks"):
            weft.Runtime(refuse_blocks="io_ops").load(reading)
        weft.Runtime(allow_blocks="ReadFile").load(reading)

    def test_each_access_to_a_file_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.realpath(folder)
            pathlib.Path(folder, "x").write_text("bytes")
            name = {"dtype": "DT_STRING", "shape": [], "values": ["x"]}
            seen, answer = [], [True]

            def on_file(*access):
                seen.append(access)
                return answer[0]

            page_ = weft.load(page({"id": "read", "block": "ReadFile", "inputs": {"filename": name}}), folder=folder, on_file=on_file)
            page_.run()
            self.assertEqual(seen, [("x", os.path.join(folder, "x"), "read", True)])
            answer[0] = False
            with self.assertRaisesRegex(weft.Error, "the host does not let the page read the file 'x'"):
                page_.run()

    def test_lists_of_blocks(self):
        name = {"dtype": "DT_STRING", "shape": [], "values": ["x"]}
        reading = page({"id": "read", "block": "ReadFile", "inputs": {"filename": name}})
        with self.assertRaisesRegex(weft.Error, "it is on the list of refused blocks"):
            weft.Runtime(refuse_blocks=["io_ops"]).load(reading)
        with self.assertRaisesRegex(weft.Error, "it is not on the list of allowed blocks"):
            weft.Runtime(allow_blocks=["Add"]).load(reading)
        weft.Runtime(allow_blocks=["Add", "ReadFile"]).load(reading)

    def test_errors_can_be_sent(self):
        with self.assertRaises(weft.Error) as caught:
            weft.load(b"{")
        copy = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((copy.code, str(copy)), (caught.exception.code, str(caught.exception)))

    def test_numbers_that_the_engine_has_no_place_for(self):
        page_ = weft.load(doubling())
        session = page_.session().run()
        for what, wrong in (("steps", lambda: page_.run(2**64 + 1)), ("steps", lambda: session.start(np.uint64(2**63))),
                            ("weft_page_hold_memory", lambda: page_.hold_memory(2**64)),
                            ("weft_session_cancel_start", lambda: session.cancel(-1)),
                            ("memory_limit", lambda: weft.Runtime(memory_limit=2**64)), ("threads", lambda: weft.Runtime(threads=2**32 + 1)),
                            ("weft_view_text", lambda: session.view("double.z").text(2**64)),
                            ("most_events", lambda: session.events(most_events=2**32)),
                            ("bins", lambda: session.subscribe("double.z", "histogram", bins=2**64 + 5)),
                            ("from_hit", lambda: session.break_if("run >= 1", from_hit=-1)), ("shards", lambda: page_.sharded(shards=2**32 + 1))):
            with self.subTest(what), self.assertRaisesRegex(ValueError, rf"{what} is a number from -?\d+ to \d+, not -?\d+"):
                wrong()
        self.assertEqual(session.info.runs, 1)

    def test_the_longest_wait(self):
        session = weft.load(doubling()).session()
        for timeout in (1e17, float("inf")):
            session.start(1)
            self.assertEqual(session.wait(timeout), "idle")

    def test_times_that_are_almost_none(self):
        """Where the engine means something else by 0: no lease, no deadline, its own interval."""
        session = weft.load(long_product(200)).session()
        session.lease(0.0004)
        session.break_before("product")
        session.start(1)
        late = time.monotonic() + 20
        while session.info.state != "idle" and time.monotonic() < late:
            time.sleep(0.001)
        self.assertEqual(session.info.state, "idle")
        with weft.Runtime(call_deadline=1e-10) as runtime, self.assertRaises(weft.CancelledError):
            runtime.load(XOR)
        session = weft.load(counter()).session()
        seen = []
        session.on_event(lambda event: seen.append(event.run), "run", interval=1e-10)
        session.run(50)
        self.assertEqual(set(seen), set(range(1, 51)))

    def test_almost_no_patience(self):
        begun, end = threading.Event(), threading.Event()
        runtime = weft.Runtime()
        runtime.add_block("Wait", inputs={"x": "T"}, outputs={"y": "T"}, stateful=True)(lambda x: begun.set() or end.wait(20) and x)
        page_ = runtime.load(page(const("x", "DT_FLOAT", [], [1]), {"id": "wait", "block": "Wait", "inputs": {"x": "x.output"}}))
        session = page_.session()
        session.start(1)
        begun.wait(20)
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            with self.assertRaises(weft.Error) as caught:
                page_.save_state(os.path.join(folder, "state"), patience=1e-5)
            self.assertEqual(caught.exception.code, "failed_precondition")
            self.assertLess(time.monotonic() - start, 5)
        end.set()
        self.assertEqual(session.wait(), "idle")

    def test_wrong_use(self):
        page_ = weft.load(doubling())
        for wrong in (lambda: page_.session(keep="some"), lambda: page_.session().run(deadline=-1),
                      lambda: weft.load(doubling(), name="a\0b")):
            with self.assertRaises(ValueError):
                wrong()
