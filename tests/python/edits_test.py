"""Edits of a page that is loaded, and that runs."""
import json
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
