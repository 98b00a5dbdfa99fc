"""Blocks written in Python."""
import _thread
import gc
import importlib.util
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import weakref

import numpy as np
import weft
from pages import const, long_product, page


def runtime_with_scale():
    runtime = weft.Runtime(threads=2)

    @runtime.add_block(inputs={"x": "T"}, outputs={"y": "T"}, types={"T": ["DT_FLOAT", "DT_DOUBLE"]},
                   attrs={"factor": weft.Attr("float", 2.0, doc="what x is multiplied by")}, shapes=lambda x, factor: x.shape,
                   gradient=lambda dy, x, factor: factor * dy)
    def Scale(x, factor):
        """Multiplies by a factor.

        Made of Python.
        """
        return factor * x

    return runtime


def runtime_with(**options):
    """A runtime with one block f of the function in `run`."""
    runtime = weft.Runtime(threads=2)
    run = options.pop("run")
    runtime.add_block("F", **{"inputs": {"x": "T"}, "outputs": {"y": "T"}, **options})(run)
    return runtime


def f_of(dtype="DT_FLOAT", values=(1, 2, 3), **attrs):
    return page(const("x", dtype, [len(values)], list(values)), {"id": "f", "block": "F", "inputs": {"x": "x.output"}, "attrs": attrs})


class BlocksTest(unittest.TestCase):
    def test_runs_like_any_other(self):
        session = runtime_with_scale().load(page(
            const("x", "DT_FLOAT", [2], [1, 3]), {"id": "twice", "block": "Scale", "inputs": {"x": "x.output"}},
            {"id": "half", "block": "Scale", "attrs": "factor_ = 0.5;", "inputs": {"x": "twice.y"}},
            {"id": "sum", "block": "Add", "inputs": {"x": "half.y", "y": "twice.y"}})).session()
        session.run(3)
        self.assertEqual(session["sum.z"].tolist(), [3, 9])

    def test_has_help_and_checks(self):
        runtime = runtime_with_scale()
        told = runtime.block("Scale")
        self.assertEqual((told["summary"], told["category"]), ("Multiplies by a factor.", "host"))
        self.assertIn("what x is multiplied by", json.dumps(told))
        for wrong, port in ((f'{{"x": "x.output"}}, "attrs": "factr_ = 1;"', "factr"), ('{"z": "x.output"}', "z")):
            with self.assertRaises(weft.Error) as caught:
                runtime.load(('{"weft": 1, "page": "p", "blocks": [' + json.dumps(const("x", "DT_FLOAT", [1], [1]))
                              + ', {"id": "s", "block": "Scale", "inputs": ' + wrong + "}]}").encode())
            self.assertEqual((caught.exception.block, caught.exception.port), ("s", port))

    def test_gradients(self):
        training = page({"id": "w", "block": "Variable", "inputs": {"initvalues": {"dtype": "DT_FLOAT", "shape": [2], "values": [1, -4]}}},
                        {"id": "s", "block": "Scale", "attrs": "factor_ = 3;", "inputs": {"x": "w.ref"}},
                        {"id": "loss", "block": "L2Loss", "inputs": {"t": "s.y"}},
                        {"id": "g", "block": "AddSymbolicGradients", "inputs": {"outputs": ["loss.output"], "inputs": ["w.ref"]}},
                        {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["g.grad_outputs[0]"]}})
        results = runtime_with_scale().load(training).run()
        self.assertEqual(results["g.grad_outputs[0]"].tolist(), [9, -36])

    def test_shapes_that_the_run_tells(self):
        runtime = runtime_with(run=lambda x: x[x > 1])
        results = runtime.load(page(const("x", "DT_FLOAT", [4], [0, 1, 2, 3]), {"id": "f", "block": "F", "inputs": {"x": "x.output"}},
                                    {"id": "twice", "block": "Add", "inputs": {"x": "f.y", "y": "f.y"}})).run(2)
        self.assertEqual(results["twice.z"].tolist(), [4, 6])

    def test_shapes_by_values(self):
        runtime = runtime_with(inputs={"x": "T", "size": "DT_INT32"}, shaped_by=["size"], shapes=lambda x, size: size.value.tolist(),
                               run=lambda x, size: np.resize(x, size))
        results = runtime.load(page(const("x", "DT_DOUBLE", [2], [1, 2]), const("size", "DT_INT32", [2], [2, 3]),
                                    {"id": "f", "block": "F", "inputs": {"x": "x.output", "size": "size.output"}})).run()
        self.assertEqual(results["f.y"].tolist(), [[1, 2, 1], [2, 1, 2]])

    def test_many_outputs_and_lists(self):
        runtime = weft.Runtime()

        @runtime.add_block(inputs={"xs": weft.Port("T", count="N")}, outputs={"low": "T", "all": weft.Port("T", count="N")},
                       shapes=lambda xs: (xs[0].shape, [x.shape for x in xs]))
        def Lists(xs):
            return np.minimum.reduce(xs), [x + 1 for x in xs]

        results = runtime.load(page(const("a", "DT_INT32", [2], [1, 5]), const("b", "DT_INT32", [2], [4, 2]),
                                    {"id": "l", "block": "Lists", "inputs": {"xs": ["a.output", "b.output"]}})).run()
        self.assertEqual([results[name].tolist() for name in ("l.low", "l.all[0]", "l.all[1]")], [[1, 2], [2, 6], [5, 3]])

    def test_strings_and_bfloat16(self):
        words = runtime_with(inputs={"x": "DT_STRING"}, outputs={"y": "DT_STRING"}, run=lambda x: np.array([w[::-1] for w in x], object))
        self.assertEqual(words.load(f_of("DT_STRING", ["ab", ""])).run()["f.y"].tolist(), [b"ba", b""])
        short = runtime_with(types={"T": ["DT_BFLOAT16"]}, run=lambda x: x * 1.5)
        self.assertEqual(short.load(f_of("DT_BFLOAT16", [1, 2])).run()["f.y"].tolist(), [1.5, 3])

    @unittest.skipUnless(importlib.util.find_spec("ml_dtypes"), "needs ml_dtypes")
    def test_bfloat16_of_other_packages(self):
        import ml_dtypes

        short = runtime_with(types={"T": ["DT_BFLOAT16"]}, run=lambda x: (x * 1.5).astype(ml_dtypes.bfloat16))
        self.assertEqual(short.load(f_of("DT_BFLOAT16", [1, 2])).run()["f.y"].tolist(), [1.5, 3])

    def test_strings_keep_zero_bytes_at_their_ends(self):
        for words in ([b"a\0"], ["a\0"]):
            runtime = runtime_with(inputs={"x": "DT_STRING"}, outputs={"y": "DT_STRING"}, run=lambda x: words)
            self.assertEqual(runtime.load(f_of("DT_STRING", ["x"])).run()["f.y"].tolist(), [b"a\0"])

    def test_attributes_of_every_kind(self):
        seen = {}
        attrs = {"i": 3, "f": 0.5, "b": True, "s": "text", "l": weft.Attr("list(int)", [1, 2]), "t": weft.Attr("type", "DT_INT32"),
                 "mode": weft.Attr("string", "a", allowed=["a", "b"])}
        runtime = runtime_with(attrs=attrs, run=lambda x, **given: seen.update(given) or x)
        runtime.load(f_of(mode="b", i=4)).run()
        self.assertEqual(seen, {"i": 4, "f": 0.5, "b": True, "s": "text", "l": (1, 2), "t": "DT_INT32", "mode": "b"})
        with self.assertRaises(weft.Error) as caught:
            runtime.load(f_of(mode="c"))
        self.assertEqual(caught.exception.port, "mode")

    def test_inputs_are_the_engines_memory_and_not_written(self):
        def run(x):
            self.assertFalse(x.flags.writeable)
            with self.assertRaises(ValueError):
                x[0] = 1
            return x

        self.assertEqual(runtime_with(run=run).load(f_of()).run()["f.y"].tolist(), [1, 2, 3])

    def test_sessions_in_threads(self):
        page_ = runtime_with(run=lambda x: x * 2).load(f_of())
        sums = []

        def work():
            with page_.session() as session:
                for _ in range(20):
                    sums.append(session.run()["f.y"].sum())

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sums, [12] * 80)


class FailuresTest(unittest.TestCase):
    def failure(self, source=None, **options):
        with self.assertRaises(weft.Error) as caught:
            runtime_with(**options).load(source or f_of()).run()
        self.assertEqual(caught.exception.block, "f")
        return caught.exception

    def test_raised_where_it_is_planned(self):
        def shapes(x):
            raise weft.BlockError("needs a matrix", port="x", hint="reshape it")

        error = self.failure(run=lambda x: x, shapes=shapes)
        self.assertEqual((error.code, error.port, error.message, error.hint), ("invalid_argument", "x", "needs a matrix", "reshape it"))

    def test_raised_where_it_runs(self):
        error = self.failure(run=lambda x: x.no_such_thing)
        self.assertEqual(error.code, "internal")
        self.assertIn("AttributeError", error.message)
        self.assertIn("blocks_test.py", error.hint)

    def test_what_does_not_fit(self):
        self.assertIn("complex", self.failure(run=lambda x: x * 1j).message)
        self.assertIn("(4,)", self.failure(run=lambda x: np.zeros(4, np.float32), shapes=lambda x: x.shape).message)
        error = self.failure(f_of("DT_INT32"), run=lambda x: np.int64([1, 2**31 + 5]))
        self.assertEqual(error.code, "internal")
        self.assertIn("DT_INT32 needs whole numbers from -2147483648 to 2147483647, found 2147483653", error.message)
        self.assertIn("complex", self.failure(f_of("DT_BFLOAT16"), types={"T": ["DT_BFLOAT16"]}, run=lambda x: x * 1j).message)
        self.assertIn("a size is a number", self.failure(run=lambda x: x, shapes=lambda x: [2**64 + 3]).message)
        self.assertIn("2 results", self.failure(run=lambda x: (x, x), outputs={"y": "T", "z": "T", "w": "T"}).message)

    def test_a_string_that_the_engine_does_not_take(self):
        from weft import blocks
        taken, no_room = [], 7
        value = types.SimpleNamespace(dtype=blocks._STRING, rank=1, shape=[3], data=None)
        raw = types.SimpleNamespace(outputs=[value], set_string=lambda *given: taken.append(given[3]) or (no_room if len(taken) == 2 else 0))
        self.assertEqual(blocks._give(types.SimpleNamespace(contents=raw), 0, [b"a", b"b", b"c"], False), no_room)
        self.assertEqual(taken, [b"a", b"b"])

    def test_an_input_that_is_kept(self):
        kept = []
        error = self.failure(run=lambda x: kept.append(x[1:]) or x)
        self.assertEqual((error.code, error.hint), ("failed_precondition", "keep a copy: x.copy()"))

    def test_an_input_that_is_kept_by_what_raises(self):
        kept = []

        def run(x):
            kept.append(x)
            raise ValueError("too late")

        error = self.failure(run=run)
        self.assertIn("too late", error.message)
        self.assertIn("kept an input", error.message)
        self.assertIn("x.copy()", error.hint)

        def harmless(x):  # what only the exception holds goes with it
            try:
                raise KeyError(x)
            except KeyError as inner:
                raise ValueError(x) from inner

        self.assertNotIn("kept an input", self.failure(run=harmless).message)

    def test_a_block_that_is_refused_leaves_none_of_its_gradient(self):
        runtime = weft.Runtime()
        names = [block["block"] for block in runtime.blocks()]
        options = {"inputs": {"x": "T"}, "outputs": {"y": "T"}, "gradient": lambda dy, x: dy}
        with self.assertRaises(weft.Error) as caught:
            runtime.add_block("Add", **options)(lambda x: x)
        self.assertEqual(caught.exception.code, "already_exists")
        runtime.add_block("FGrad", inputs={"x": "T"}, outputs={"y": "T"})(lambda x: x)
        with self.assertRaises(weft.Error) as caught:
            runtime.add_block("F", **options)(lambda x: x)
        self.assertEqual(caught.exception.code, "already_exists")
        self.assertIn("FGrad", caught.exception.message)
        with self.assertRaises(ValueError):
            runtime.add_block("G", inputs={"grad_y": "T"}, outputs={"y": "T"}, gradient=lambda dy, x: dy)(lambda grad_y: grad_y)
        self.assertEqual({block["block"] for block in runtime.blocks()} - set(names), {"FGrad"})

    def test_the_ports_of_a_gradient(self):
        told = runtime_with_scale().block("ScaleGrad")
        self.assertEqual([port["port"] for port in told["inputs"]], ["grad_y", "x"])
        self.assertEqual([port["port"] for port in told["outputs"]], ["grad_x"])
        self.assertTrue(told["internal"])

    def test_shapes_that_call_their_own_page(self):
        codes = []

        def shapes(x):
            if pages:
                try:
                    pages[0].session()
                except weft.Error as error:
                    codes.append(error.code)
            return x.shape

        pages = []
        pages.append(runtime_with(run=lambda x: x, shapes=shapes, stateful=True).load(f_of()))
        pages[0].run()
        self.assertIn("failed_precondition", codes)
        self.assertEqual(set(codes), {"failed_precondition"})
        pages.clear()  # the block holds the list, and so its own runtime

    def test_a_session_that_is_closed_while_its_page_is_planned(self):
        def shapes(x):
            while sessions:
                sessions.pop().close()
            return x.shape

        sessions = []
        page_ = runtime_with(run=lambda x: x, shapes=shapes, stateful=True).load(f_of())
        session = page_.session()
        sessions.append(session)
        page_.session().run()
        self.assertEqual(sessions, [])
        late = time.monotonic() + 20
        with self.assertRaises(weft.Error) as caught:
            while time.monotonic() < late:  # it ends when nothing waits for the plan any more
                self.assertEqual(session.info.state, "idle")
                time.sleep(0.01)
        self.assertIn("closed", caught.exception.message)

    def test_a_name_that_is_taken(self):
        runtime = weft.Runtime()
        with self.assertRaises(weft.Error) as caught:
            runtime.add_block("Add", inputs={"x": "T"}, outputs={"y": "T"})(lambda x: x)
        self.assertEqual(caught.exception.code, "already_exists")
        runtime.load(page(const("x", "DT_FLOAT", [], [1])))
        with self.assertRaises(weft.Error) as caught:
            runtime.add_block("Late", inputs={"x": "T"}, outputs={"y": "T"})(lambda x: x)
        self.assertEqual(caught.exception.code, "failed_precondition")


class EndsTest(unittest.TestCase):
    def test_blocks_end_with_their_runtime(self):
        from weft import blocks
        gc.collect()  # runtimes of other tests that wait for it
        before = len(blocks._blocks)
        runtime = runtime_with_scale()
        self.assertGreater(len(blocks._blocks), before)
        runtime.close()
        self.assertEqual(len(blocks._blocks), before)

    def test_a_program_that_ends_while_its_block_runs(self):
        program = ("import time, weft\nruntime = weft.Runtime()\n"
                   "runtime.add_block('F', inputs={'x': 'T'}, outputs={'y': 'T'})(lambda x: x + 1)\n"
                   "page = runtime.load({'weft': 1, 'page': 'p', 'blocks': [{'id': 'f', 'block': 'F',"
                   " 'inputs': {'x': {'dtype': 'DT_FLOAT', 'shape': [], 'values': [1]}}}]})\n"
                   "kept = page.run()\nsession = page.session()\nsession.start()\ntime.sleep(0.1)\n")
        done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class CaseFilesTest(unittest.TestCase):
    def test_a_deadline_and_a_cancel(self):
        case = {"name": "long", "page": {"blocks": long_product(8000)["blocks"]}, "steps": [{"fetch": ["again.product"]}]}
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "long.cases.json").write_text(json.dumps({"cases": [case]}))
            runtime = weft.Runtime(threads=2)
            with self.assertRaises(weft.CancelledError):
                runtime.test(folder, deadline=0.2)
            with self.assertRaises(weft.CancelledError):
                runtime.test(folder, deadline=1e-10)
            timer = threading.Timer(0.2, runtime.cancel_tests)
            timer.start()
            with self.assertRaises(weft.CancelledError):
                runtime.test(folder)
            timer.join()
            with self.assertRaises(ValueError):
                runtime.test(folder, deadline=-1)

    def test_control_c(self):
        from weft.session import interruptibly
        begun, cancelled = threading.Event(), threading.Event()

        def work():  # Ctrl-C comes before there is anything to cancel
            _thread.interrupt_main()
            time.sleep(0.2)
            begun.set()
            cancelled.wait(5)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with self.assertRaises(KeyboardInterrupt):
                interruptibly(work, lambda: cancelled.set() if begun.is_set() else None)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertTrue(cancelled.is_set())

    def test_a_failure_is_gone_when_it_was_caught(self):
        gc.collect()
        gc.disable()
        try:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    weft.Runtime().test(folder)
                except weft.Error as error:
                    caught = weakref.ref(error)
                self.assertIsNone(caught())
        finally:
            gc.enable()

    def test_cases_of_a_block(self):
        x = {"dtype": "DT_FLOAT", "shape": [2], "values": [1, 2]}
        cases = {"block": "Scale", "cases": [{"name": "right", "inputs": {"x": x}, "outputs": {"y": {**x, "values": [2, 4]}}},
                                             {"name": "wrong", "inputs": {"x": x}, "outputs": {"y": {**x, "values": [2, 5]}}}]}
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "Scale.cases.json").write_text(json.dumps(cases))
            report = runtime_with_scale().test(folder)
            self.assertEqual((report.passed, report.failed, report.skipped), (1, 1, 0))
            self.assertEqual([(case.name, case.verdict, case.block) for case in report.cases],
                             [("right", "passed", "Scale"), ("wrong", "failed", "Scale")])
            with self.assertRaises(weft.Error):
                runtime_with_scale().test(folder, blocks=["Add"])
