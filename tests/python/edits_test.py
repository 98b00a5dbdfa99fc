"""Edits of a page that is loaded, and that runs."""
import json
import pathlib
import re
import threading
import unittest

import numpy as np
import weft
from pages import XOR, counter, doubling


class EditsTest(unittest.TestCase):
    def setUp(self):
        self.page = weft.load(doubling(shape=(2,)))
        self.session = self.page.session(fetch=["double.z"])
        self.before = self.page.to_json()

    def value(self, name="double.z"):
        return self.session.run()[name].tolist()

    def test_set_connect_undo_redo(self):
        self.assertEqual(self.value(), [0, 2])
        edits = self.page.edits
        self.page.set_input("x.value", [5.0, 6.0])
        self.assertEqual(self.page.edits, edits + 1)
        self.assertEqual(self.value(), [10, 12])
        self.page.add("one", "Const", {"value": np.float32([1, 1])}, layout=[10, 20])
        self.page.connect("one.output", "double.y")
        self.assertEqual(self.value(), [6, 7])
        after = self.page.to_json()
        while self.page.undo():
            pass
        self.assertEqual(self.page.to_json(), self.before)
        self.assertEqual(self.value(), [0, 2])
        while self.page.redo():
            pass
        self.assertEqual(self.page.to_json(), after)
        self.assertEqual(self.value(), [6, 7])

    def test_inputs_may_wait_for_their_wires(self):
        """What a palette and a wire that is drawn do to a page: only what cannot become right is refused."""
        self.page.edit({"op": "add", "block": {"id": "sum", "block": "Add"}}, strict=True, open_inputs=True)
        self.page.edit({"op": "connect", "from": "x.output", "to": "sum.x"}, strict=True, open_inputs=True)
        self.page.add("i", "Const", {"value": np.int32([1, 2])})
        with self.assertRaises(weft.Error) as caught:
            self.page.edit({"op": "connect", "from": "i.output", "to": "double.x"}, strict=True, open_inputs=True)
        error = caught.exception
        self.assertEqual((error.block, error.port, error.phase), ("double", "x", "connect"))
        self.assertEqual((error.needed, error.found), ("DT_FLOAT", "DT_INT32"))
        self.assertEqual([cause.port for cause in error.causes], ["y"])
        self.assertEqual(len({str(found) for found in error.diagnostics}), len(error.diagnostics))
        with self.assertRaises(weft.Error):
            self.page.edit({"op": "add", "block": {"id": "other", "block": "Add"}}, strict=True)

    def test_inverse_edits_have_keys_that_the_header_tells(self):
        header = (pathlib.Path(__file__).resolve().parents[2] / "runtime/include/weft/capi/edit.h").read_text()
        known = {}  # by "op", the keys that the header writes in examples or in words
        for op, keys in re.findall(r'"op": "(\w+)", (.*)', header):
            known.setdefault(op, set()).update(re.findall(r'"(\w+)"(?::| of)', keys))
        known["add"] |= {"place"}
        words = re.search(r"Inverse edits use further keys: (.*?)\n \*\n", header, re.S)[1]
        for key, op in (("keep_wires", "remove"), ("keep_layout", "remove"), ("place", "set"), ("place", "move")):
            self.assertIn(f'"{key}"', words)
            self.assertIn(f'"{op}"', words)
            known[op].add(key)
        page = weft.load(XOR)
        edits = [{"op": "remove", "block": "loss"}, {"op": "add", "block": {"id": "n", "block": "NoOp"}, "layout": [1, 2]},
                 {"op": "set", "block": page.blocks[0], "attrs": {"dtype": "DT_FLOAT"}}, {"op": "set", "block": page.blocks[0], "key": "note", "value": 1},
                 {"op": "set", "key": "page", "value": "other"}, {"op": "rename", "block": page.blocks[1], "to": "renamed"},
                 {"op": "move", "block": page.blocks[0], "layout": None}, {"op": "disconnect", "to": "run.fetch_outputs"}]
        seen = set()
        for edit in edits:
            for inverse in page.edit(edit):
                seen.update(inverse)
                self.assertLessEqual(set(inverse) - {"op"}, known[inverse["op"]], inverse)
        self.assertLessEqual({"place", "attrs", "layout"}, seen)

    def test_every_edit_gives_what_takes_it_back(self):
        edits = (lambda: self.page.add("one", "Const", {"value": 1.5}), lambda: self.page.remove("double"),
                 lambda: self.page.disconnect("double.y"), lambda: self.page.rename("x", "input"), lambda: self.page.move("x", 1, 2),
                 lambda: self.page.set_attr("double", "T", "DT_FLOAT"), lambda: self.page.set_input("double.y", "x.output"))
        for edit in edits:
            inverse = edit()
            self.page.edit(*inverse)
            self.assertEqual(self.page.to_json(), self.before)

    def test_all_edits_of_a_call_or_none(self):
        with self.assertRaises(weft.Error) as caught:
            self.page.edit({"op": "rename", "block": "x", "to": "y"}, {"op": "remove", "block": "nothing"})
        self.assertEqual(caught.exception.code, "not_found")
        self.assertEqual(self.page.to_json(), self.before)
        self.assertFalse(self.page.undo())

    def test_a_page_that_an_edit_broke_says_so(self):
        self.page.set_input("double.y", [1.0, 2.0, 3.0])
        self.assertEqual([found.block for found in self.page.diagnostics], ["double"])
        with self.assertRaises(weft.Error):
            self.value()
        self.page.undo()
        self.assertEqual(self.value(), [0, 2])
        with self.assertRaises(weft.Error) as caught:
            self.page.edit({"op": "set", "input": "double.y", "value": weft.literal([1.0, 2.0, 3.0])}, strict=True)
        self.assertEqual(caught.exception.block, "double")
        self.assertEqual(self.page.to_json(), self.before)

    def test_variables_keep_their_values(self):
        page = weft.load(counter())
        session = page.session()
        session.run(5)
        page.rename("up", "more")
        session.run()
        self.assertEqual(page.variable("n"), 6)

    def test_edits_while_it_runs(self):
        page = weft.load(XOR)
        before = page.to_json()
        session = page.session()
        worker = threading.Thread(target=session.run, args=(3000,))
        worker.start()
        for place in range(100):
            page.move(page.blocks[0], place, place)
        while page.undo():
            pass
        worker.join()
        self.assertEqual(page.to_json(), before)
        self.assertEqual(session["loss.output"].tobytes(), weft.load(XOR).run(3000)["loss.output"].tobytes())

    def test_literals(self):
        self.assertEqual(weft.literal(np.float32([1, np.nan, -np.inf])), {"dtype": "DT_FLOAT", "shape": [3], "values": [1, "nan", "-inf"]})
        self.assertEqual(weft.literal([[True]]), {"dtype": "DT_BOOL", "shape": [1, 1], "values": [True]})
        self.assertEqual(weft.literal(1 + 2j), {"dtype": "DT_COMPLEX128", "shape": [], "values": [[1, 2]]})
        self.assertEqual(weft.literal(["a", b"b"]), {"dtype": "DT_STRING", "shape": [2], "values": ["a", "b"]})
        self.assertEqual(weft.literal(0.5, "DT_BFLOAT16"), {"dtype": "DT_BFLOAT16", "shape": [], "values": [0.5]})
        self.assertEqual(json.loads(json.dumps(weft.literal(2**40))), {"dtype": "DT_INT64", "shape": [], "values": [2**40]})
        with self.assertRaisesRegex(TypeError, "strings are str or bytes, found NoneType"):
            weft.literal(["a", None])
