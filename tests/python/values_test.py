"""Values in and out: zero copies, types, strings, DLPack, memory of the host."""
import gc
import importlib.util
import tracemalloc
import unittest

import numpy as np
import weft
from pages import GRAPHS, const, counter, doubling, page
from weft.values import to_array


class ResultsTest(unittest.TestCase):
    def test_arrays_share_the_engines_memory(self):
        with weft.load(doubling()).session() as session:
            view = session.run().view("double.z")
            array = view.numpy()
            self.assertEqual(array.ctypes.data, view.address)
            self.assertEqual(np.asarray(view).ctypes.data, view.address)
            self.assertFalse(array.flags.writeable)
            self.assertEqual((view.dtype, view.shape, view.generation, view.stale), ("DT_FLOAT", (2, 3), 1, False))
            np.testing.assert_array_equal(array, [[0, 2, 4], [6, 8, 10]])

    def test_arrays_never_change(self):
        """What was read stays, whatever runs next, and also when all else is gone."""
        page_ = weft.load(doubling())
        session = page_.session()
        kept = []
        for run in range(20):
            session.run(feeds={"x.output": np.full((2, 3), run, np.float32)})
            kept.append(session["double.z"])
        session.close()
        page_.close()
        del session, page_
        gc.collect()
        for run, array in enumerate(kept):
            np.testing.assert_array_equal(array, np.full((2, 3), 2 * run, np.float32))

    def test_results_are_of_one_run(self):
        results = weft.load(doubling()).run()
        self.assertEqual(sorted(results), ["double.z", "x.output"])
        self.assertEqual(len(results), 2)
        self.assertIn("double.z", results)
        with self.assertRaises(KeyError):
            results["triple.z"]

    def test_none_before_a_run(self):
        session = weft.load(GRAPHS / "bias_add_grad.page.json").session()
        self.assertEqual(dict(session.results()), {})
        with self.assertRaises(weft.Error) as caught:
            session.results(["db_nhwc.output"])
        self.assertEqual(caught.exception.code, "failed_precondition")

    def test_handles_are_named_apart(self):
        """What numpy cannot hold does not keep the rest from being read."""
        results = weft.load(GRAPHS / "queue.page.json").run()
        self.assertEqual(dict(results)["next.z"], 1)
        self.assertEqual(results.handles, ["queue.handle"])
        self.assertNotIn("queue.handle", results)
        self.assertEqual(results.view("queue.handle").dtype, "DT_RESOURCE")
        with self.assertRaises(KeyError):
            results["queue.handle"]
        self.assertEqual(weft.load(GRAPHS / "queue.page.json").session().run().results(["queue.handle"]).handles, ["queue.handle"])

    def test_elements_and_enuspace_names(self):
        session = weft.load(doubling()).session().run()
        self.assertEqual(session["double.result_z[1][2]"], 10)
        np.testing.assert_array_equal(session["double.result_z"], session["double.z"])

    def test_every_type(self):
        plain = {"DT_FLOAT": "f4", "DT_DOUBLE": "f8", "DT_INT32": "i4", "DT_UINT8": "u1", "DT_INT16": "i2", "DT_INT8": "i1",
                 "DT_INT64": "i8", "DT_UINT16": "u2", "DT_UINT32": "u4", "DT_UINT64": "u8", "DT_HALF": "f2", "DT_COMPLEX64": "c8",
                 "DT_COMPLEX128": "c16"}
        for dtype, kind in plain.items():
            with self.subTest(dtype):
                session = weft.load(page(const("x", dtype, [3], [0, 1, 2]),
                                         {"id": "same", "block": "Identity", "inputs": {"input": "x.output"}})).session()
                array = session.run()["same.output"]
                self.assertEqual(array.dtype, np.dtype(kind))
                np.testing.assert_array_equal(array, [0, 1, 2])
                fed = np.array([7, 8, 9], kind)
                np.testing.assert_array_equal(session.run(feeds={"x.output": fed})["same.output"], fed)

    def test_bfloat16_is_seen_as_float32(self):
        session = weft.load(doubling("DT_BFLOAT16", (3,))).session().run()
        self.assertEqual(session["double.z"].dtype, np.float32)
        np.testing.assert_array_equal(session["double.z"], [0, 2, 4])
        session.feed("x.output", np.array([0.5, np.nan, 1 + 2**-8 + 2**-9]), dtype="DT_BFLOAT16")
        np.testing.assert_array_equal(session.run()["x.output"], [0.5, np.nan, 1 + 2**-7])
        scalar = weft.load(doubling("DT_BFLOAT16", ())).session()
        for value in (1.5, np.float32(1.5), np.array(1.5)):
            scalar.feed("x.output", value, dtype="DT_BFLOAT16")
            self.assertEqual(scalar.run()["double.z"].shape, ())
            self.assertEqual(scalar["double.z"], 3)

    def test_bool_and_strings(self):
        session = weft.load(page(const("yes", "DT_BOOL", [2], [True, False]), const("words", "DT_STRING", [2], ["a", "longer"]),
                                 {"id": "no", "block": "LogicalNot", "inputs": {"x": "yes.output"}},
                                 {"id": "same", "block": "Identity", "inputs": {"input": "words.output"}})).session()
        session.run()
        self.assertEqual(session["no.y"].tolist(), [False, True])
        self.assertEqual(session["same.output"].tolist(), [b"a", b"longer"])
        session.run(feeds={"words.output": np.array([b"\0\xff", "\u00e9"], object)})
        self.assertEqual(session["same.output"].tolist(), [b"\0\xff", "\u00e9".encode()])
        session.run(feeds={"words.output": ["", "text"]})
        self.assertEqual(session["same.output"].tolist(), [b"", b"text"])

    def test_no_elements(self):
        session = weft.load(doubling(shape=(0, 3))).session().run()
        self.assertEqual(session["double.z"].shape, (0, 3))


class TypesTest(unittest.TestCase):
    def test_strings_keep_zero_bytes_at_their_ends(self):
        session = weft.load(page(const("words", "DT_STRING", [2], ["a", "b"]),
                                 {"id": "same", "block": "Identity", "inputs": {"input": "words.output"}})).session()
        for words in ([b"a\0", b"\0"], ["a\0", "\0"], ["a\0", b"\0"], np.array([b"a\0", b"\0"], object)):
            self.assertEqual(session.run(feeds={"words.output": words})["same.output"].tolist(), [b"a\0", b"\0"])
        self.assertEqual(weft.literal([["a\0", b"b\0\0"]]), {"dtype": "DT_STRING", "shape": [1, 2], "values": ["a\0", "b\0\0"]})
        self.assertEqual(weft.literal(b"a\0"), {"dtype": "DT_STRING", "shape": [], "values": ["a\0"]})
        self.assertEqual(weft.literal([], "DT_STRING")["shape"], [0])
        with self.assertRaisesRegex(TypeError, "found int"):
            weft.literal(["a", 1])

    def test_a_type_that_is_named_has_all_the_values(self):
        for dtype, values, found in (("DT_UINT8", [3, 300], "300"), ("DT_UINT8", [-1], "-1"), ("DT_INT32", [2**40], "1099511627776"),
                                     ("DT_INT32", 1.9, "1.9"), ("DT_INT32", [1, float("nan")], "nan"), ("DT_INT64", np.float32(2**63), "9.22"),
                                     ("DT_UINT64", np.int64([-1]), "-1"), ("DT_INT64", np.uint64([2**63]), "9223372036854775808"),
                                     ("DT_UINT64", [2**64], "18446744073709551616"), ("DT_INT16", np.float16([np.inf]), "inf"),
                                     ("DT_BOOL", [1, 2], "2"), ("DT_BOOL", np.float64([0.5]), "0.5"), ("DT_QINT8", np.int16(128), "128"),
                                     ("DT_INT8", np.array([1, 1.5], object), "1.5")):
            with self.subTest(dtype=dtype, values=values), self.assertRaisesRegex(ValueError, f"^{dtype} needs whole numbers from .*, found {found}"):
                weft.literal(values, dtype)
        for dtype in ("DT_FLOAT", "DT_BFLOAT16", "DT_INT32", "DT_BOOL"):
            with self.assertRaisesRegex(TypeError, f"^{dtype} needs real numbers, found complex128"):
                weft.literal([1 + 2j], dtype)
            with self.assertRaisesRegex(TypeError, f"^{dtype} needs numbers, found"):
                weft.literal(["1"], dtype)

    def test_a_type_that_is_named_keeps_what_it_has(self):
        for dtype, values in (("DT_UINT8", [0, 255]), ("DT_INT8", [-128, 127]), ("DT_INT64", [-2**63, 2**63 - 1]), ("DT_UINT64", [1, 2**64 - 1]),
                              ("DT_UINT64", [2**63 + 1, 3]), ("DT_INT32", []), ("DT_DOUBLE", [0.1, 1e300]), ("DT_BOOL", [False, True]),
                              ("DT_COMPLEX64", [[1, 2], [3, 0]])):
            with self.subTest(dtype):
                given = [complex(*each) for each in values] if dtype == "DT_COMPLEX64" else values
                self.assertEqual(weft.literal(given, dtype), {"dtype": dtype, "shape": [len(values)], "values": values})
        self.assertEqual(weft.literal(np.float64([3, -4]), "DT_INT16")["values"], [3, -4])
        self.assertEqual(weft.literal([1, 0], "DT_BOOL")["values"], [True, False])

    def test_times_are_counts_of_their_unit(self):
        self.assertEqual(weft.literal(np.array([1, -2], "m8[s]"), "DT_INT64")["values"], [1, -2])
        self.assertEqual(weft.literal(np.array(["1970-01-03"], "M8[D]"), "DT_INT64")["values"], [2])
        with self.assertRaisesRegex(ValueError, "^DT_INT8 needs whole numbers from .*, found 128"):
            weft.literal(np.array([128], "m8[s]"), "DT_INT8")

    @unittest.skipUnless(importlib.util.find_spec("ml_dtypes"), "needs ml_dtypes")
    def test_numbers_of_types_that_other_packages_have(self):
        import ml_dtypes

        given = np.array([1.5, -2], ml_dtypes.bfloat16)
        session = weft.load(doubling("DT_BFLOAT16", (2,))).session()
        session.feed("x.output", given, dtype="DT_BFLOAT16")
        self.assertEqual(session.run()["double.z"].tolist(), [3, -4])
        self.assertEqual(weft.literal(given, "DT_DOUBLE")["values"], [1.5, -2])
        with self.assertRaisesRegex(ValueError, "^DT_INT32 needs whole numbers from .*, found 1.5"):
            weft.literal(given, "DT_INT32")

    def test_records_and_bytes_are_no_numbers(self):
        for given in (np.zeros(2, [("a", np.float32)]), np.zeros(2, "V4"), np.array(["1"]), np.array([b"1"])):
            for dtype in ("DT_FLOAT", "DT_INT64", "DT_BFLOAT16"):
                with self.subTest(given=given, dtype=dtype), self.assertRaisesRegex(TypeError, f"^{dtype} needs numbers, found"):
                    weft.literal(given, dtype)

    def test_integers_that_fit_are_checked_without_arrays_of_their_own(self):
        given = np.ones(2**20, np.int64)
        tracemalloc.start()
        try:
            taken = to_array(given, "DT_UINT8")[0]
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        self.assertLess(most, 1.5 * taken.nbytes)

    def test_feeds_variables_and_values_of_a_paused_run_have_the_type_that_is_named(self):
        page_ = weft.load(counter())
        session = page_.session()
        for give in (lambda: session.feed("n.ref", 2**31, "DT_INT32"), lambda: page_.set_variable("n", 2**31, "DT_INT32"),
                     lambda: session.override("n.ref", 2**31, "DT_INT32")):
            with self.assertRaisesRegex(ValueError, "^DT_INT32 needs"):
                give()


class DlpackTest(unittest.TestCase):
    def test_numpy_reads_without_a_copy(self):
        view = weft.load(doubling()).session().run().view("double.z")
        array = np.from_dlpack(view)
        self.assertEqual(array.ctypes.data, view.address)
        address = view.address
        del view
        gc.collect()
        self.assertEqual(array.ctypes.data, address)
        np.testing.assert_array_equal(array, [[0, 2, 4], [6, 8, 10]])

    def test_a_capsule_that_nobody_takes_is_ended(self):
        view = weft.load(doubling()).session().run().view("double.z")
        for _ in range(100):
            self.assertIn("dltensor", repr(view.__dlpack__()))
        self.assertEqual(view.__dlpack_device__(), (1, 0))


class InputsTest(unittest.TestCase):
    def test_plain_numbers(self):
        session = weft.load(doubling(shape=(3,))).session()
        np.testing.assert_array_equal(session.run(feeds={"x.output": [1.5, 2, 3]})["double.z"], [3, 4, 6])

    def test_a_feed_holds_until_it_is_taken_back(self):
        session = weft.load(doubling(shape=(2,))).session()
        session.feed("x.output", np.float32([5, 6]))
        self.assertEqual(session.run()["double.z"].tolist(), [10, 12])
        self.assertEqual(session.run(feeds={"x.output": np.float32([1, 1])})["double.z"].tolist(), [2, 2])
        self.assertEqual(session.run()["double.z"].tolist(), [10, 12])
        session.unbind("x.output")
        self.assertEqual(session.run()["double.z"].tolist(), [0, 2])

    def test_arrays_of_any_layout(self):
        session = weft.load(doubling(shape=(2, 3))).session()
        rows = np.arange(12, dtype=">f4").reshape(3, 4)[:, ::2].T
        np.testing.assert_array_equal(session.run(feeds={"x.output": rows})["double.z"], 2 * rows)

    def test_bound_memory(self):
        session = weft.load(doubling(shape=(2,))).session()
        x, y = np.float32([1, 2]), np.zeros(2, np.float32)
        session.bind_input("x.output", x)
        session.bind_output("double.z", y)
        session.run()
        self.assertEqual(y.tolist(), [2, 4])
        x[:] = 10
        session.run()
        self.assertEqual(y.tolist(), [20, 20])
        session.unbind("double.z")
        x[:] = 0
        session.run()
        self.assertEqual(y.tolist(), [20, 20])

    def test_feeds_of_one_call_leave_the_others(self):
        session = weft.load(doubling(shape=(2,))).session()
        x, seen = np.float32([1, 2]), np.zeros(2, np.float32)
        session.bind_input("x.output", x)
        session.bind_output("double.z", seen)
        session.run(feeds={"x.output": np.float32([5, 5]), "double.z": np.float32([7, 7])})
        self.assertEqual(seen.tolist(), [7, 7])
        x[:] = 4
        session.run()
        self.assertEqual(seen.tolist(), [8, 8])
        session.unbind("x.output")
        fed = np.float32([1, 1])
        session.feed("x.output", fed)
        fed[:] = 50  # what was fed is a copy
        session.run(feeds={"x.output": np.float32([3, 3])})
        self.assertEqual(session.run()["double.z"].tolist(), [2, 2])

    def test_memory_that_the_program_holds(self):
        page = weft.load(doubling(shape=(2,)), runtime=weft.Runtime(page_memory_limit=1 << 20))
        page.hold_memory(900_000)
        with self.assertRaises(weft.Error) as caught:
            page.hold_memory(1 << 20)
        self.assertEqual(caught.exception.code, "resource_exhausted")
        page.hold_memory(0)
        page.hold_memory(900_000)

    def test_what_is_fed_or_bound_follows_renames(self):
        page = weft.load(doubling(shape=(2,)))
        session = page.session()
        x, y = np.float32([5, 6]), np.zeros(2, np.float32)
        session.feed("x.output", x)
        session.bind_output("double.z", y)
        page.edit({"op": "rename", "block": "x", "to": "input"}, {"op": "rename", "block": "double", "to": "twice"})
        session.run()
        self.assertEqual(y.tolist(), [10, 12])
        # For one call; then what was fed before holds again.
        self.assertEqual(session.run(feeds={"input.output": np.float32([1, 1])})["twice.z"].tolist(), [2, 2])
        self.assertEqual(session.run()["twice.z"].tolist(), [10, 12])
        removed = page.remove("twice")
        session.run()
        page.edit(*removed)
        page.set_input("twice.y", np.float32([0, 0]))
        session.run()
        self.assertEqual(y.tolist(), [5, 6])
        session.unbind("double.z")  # as it was bound
        session.unbind("input.output")
        self.assertEqual(session.run()["twice.z"].tolist(), [0, 1])
        self.assertEqual(y.tolist(), [5, 6])

    def test_a_rename_during_a_run_leaves_no_feed_behind(self):
        page = weft.load(doubling(shape=(2,)))
        session = page.session()
        session.on_event(lambda event: "x" in page.blocks and page.rename("x", "input"), "run")
        session.run(feeds={"x.output": np.float32([1, 1])})
        session.on_event(None)
        self.assertIn("input", page.blocks)
        self.assertEqual(session.run()["double.z"].tolist(), [0, 2])

    def test_sessions_that_a_page_keeps_for_its_fetches_follow_renames(self):
        page = weft.load(doubling(shape=(2,)))
        self.assertEqual(page.run(fetch="double.z")["double.z"].tolist(), [0, 2])
        page.rename("double", "twice")
        page.add("double", "Multiply", {"x": "x.output", "y": "x.output"})
        self.assertEqual(page.run(fetch="twice.z")["twice.z"].tolist(), [0, 2])
        self.assertEqual(page.run(fetch="double.z")["double.z"].tolist(), [0, 1])

    def test_sessions_that_a_page_keeps_follow_ids_that_are_swapped(self):
        def session(id, fetch):
            return {"id": id, "block": "ClientSession", "inputs": {"fetch_outputs": [fetch]}}

        page_ = weft.load(page(const("x", "DT_FLOAT", [], [1]), const("y", "DT_FLOAT", [], [2]), session("a", "x.output"), session("b", "y.output")))
        kept = {id: page_.run(session=id) and page_._sessions[id,] for id in ("a", "b")}
        page_.edit(*[{"op": "rename", "block": old, "to": new} for old, new in (("a", "t"), ("b", "a"), ("t", "b"))])
        self.assertEqual(page_._sessions, {("b",): kept["a"], ("a",): kept["b"]})
        self.assertEqual(list(page_.run(session="a")), ["y.output"])

    def test_what_cannot_be_bound(self):
        session = weft.load(doubling(shape=(2,))).session()
        with self.assertRaises(ValueError):
            session.bind_input("x.output", np.zeros((2, 2), np.float32)[:, 0])
        read_only = np.zeros(2, np.float32)
        read_only.flags.writeable = False
        with self.assertRaises(ValueError):
            session.bind_output("double.z", read_only)
        with self.assertRaises(weft.Error):
            session.bind_output("double.z", np.zeros(2))

    def test_what_has_no_type(self):
        session = weft.load(doubling(shape=(2,))).session()
        with self.assertRaisesRegex(TypeError, "datetime64"):
            session.feed("x.output", np.zeros(2, "M8[s]"))
        with self.assertRaisesRegex(ValueError, "DT_FLOAT"):
            session.feed("x.output", [1, 2], dtype="float")
