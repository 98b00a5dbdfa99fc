"""Tables as NumPy and the csv module of Python read them, and feeds from files."""
import csv
import json
import unittest

from kit import SweepTest, block, number

try:
    import numpy
except ImportError:
    numpy = None


@unittest.skipUnless(numpy, "Debian's python3-numpy is missing")
class TableTest(SweepTest):
    def write(self, axes, blocks, fetch, **more):
        session = block("run", "ClientSession", {"fetch_outputs": fetch})
        (self.folder / "fit.page.json").write_text(json.dumps({"weft": 1, "page": "fit", "blocks": [*blocks, session]}))
        self.grid.write_text(json.dumps({"sweep": 1, "page": "fit.page.json", "grid": axes, **more}))

    def table(self, status=0):
        name = str(self.folder / "t.npz")
        done = self.weft("--table", name)
        self.assertEqual(done.returncode, status, done.stderr)
        return numpy.load(name)

    def test_arrays(self):
        """Single values become columns, tensors of one shape a matrix. Points that failed have their rows: NaN, or what their .valid says."""
        self.write([{"set": "c.value", "name": "v", "values": ["{1,2}", "{3,4}", "what", "{5,6}"]}, {"set": "k.value", "name": "k", "values": [7, 8]}],
                   [block("c", "Const", {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [0, 0]}}),
                    block("k", "Const", {"value": {"dtype": "DT_INT32", "shape": [], "values": [0]}}),
                    block("pair", "Fill", {"dims": {"dtype": "DT_INT32", "shape": [1], "values": [2]}, "value": "k.output"}),
                    block("twice", "Add", {"x": "c.output", "y": "c.output"}),
                    block("sum", "Sum", {"input": "c.output", "axis": {"dtype": "DT_INT32", "shape": [1], "values": [0]}}),
                    block("big", "Greater", {"x": "sum.output", "y": number(4)}), block("half", "Log", {"x": "sum.output"})],
                   ["twice.z", "sum.output", "big.z", "k.output", "half.y", "pair.output"])
        table = self.table(status=1)
        nan, there = numpy.nan, [True, True, True, True, False, False, True, True]
        self.assertEqual(table["point"].tolist(), list(range(8)))
        self.assertEqual(table["failed"].tolist(), [not done for done in there])
        self.assertEqual(table["v"].tolist(), [text for text in ["{1,2}", "{3,4}", "what", "{5,6}"] for _ in range(2)])
        self.assertEqual(table["v"].dtype.kind, "U")
        self.assertEqual(table["twice.z"].dtype, numpy.float32)
        numpy.testing.assert_array_equal(table["twice.z"], [[2, 4], [2, 4], [6, 8], [6, 8], [nan, nan], [nan, nan], [10, 12], [10, 12]])
        numpy.testing.assert_array_equal(table["sum.output"], [3, 3, 7, 7, nan, nan, 11, 11])
        self.assertEqual((table["big.z"].dtype, table["big.z"][there].tolist()), (bool, [False, False, True, True, True, True]))
        self.assertEqual((table["k"].dtype, table["k"].tolist()), (numpy.int64, [7, 8] * 4))
        self.assertEqual((table["k.output"].dtype, table["k.output"].tolist()), (numpy.int64, [7, 8, 7, 8, 0, 0, 7, 8]))
        self.assertEqual((table["pair.output"].dtype, table["pair.output"].tolist()), (numpy.int32, [[7, 7], [8, 8], [7, 7], [8, 8], [0, 0], [0, 0], [7, 7], [8, 8]]))
        for name in ("twice.z", "sum.output", "big.z", "k.output", "half.y", "pair.output"):
            self.assertEqual((table[f"{name}.valid"].dtype, table[f"{name}.valid"].tolist()), (bool, there), name)
        self.assertNotIn("k.valid", table)  # all points have it
        self.assertEqual({len(table[name]) for name in table}, {8})
        self.assertEqual(numpy.float32(table["half.y"][0]), numpy.log(numpy.float32(3)))

    def test_all_points_have_all(self):
        """Then nothing says so."""
        self.write([{"set": "c.value", "name": "v", "values": [1, 2]}], [block("c", "Const", {"value": number(1)})], ["c.output"])
        table = self.table()
        self.assertEqual(sorted(table), ["c.output", "failed", "point", "seconds", "v"])
        self.assertEqual(table["failed"].tolist(), [False, False])

    def test_strings(self):
        """Parameters and results that are texts; bytes that are no UTF-8 stay bytes."""
        self.write([{"set": "s.value", "name": "text", "values": ["gr\u00fcn", "a", "what,{"]}, {"set": "p.value", "name": "pad", "values": ["SAME", 1, True]}],
                   [block("s", "Const", {"value": {"dtype": "DT_STRING", "shape": [], "values": [""]}}), block("n", "Const", {"value": number(1)}),
                    block("p", "Const", {"value": {"dtype": "DT_STRING", "shape": [], "values": [""]}}),
                    block("raw", "Const", {"value": {"dtype": "DT_STRING", "shape": [2], "values": ["x", {"base64": "//4="}]}})],
                   ["s.output", "raw.output", "n.output"])
        table = self.table()
        self.assertEqual(table["text"].tolist(), ["gr\u00fcn"] * 3 + ["a"] * 3 + ["what,{"] * 3)
        self.assertEqual(table["pad"].tolist(), ["SAME", "1", "true"] * 3)
        self.assertEqual((table["s.output"].dtype.kind, table["s.output"].tolist()), ("U", ["gr\u00fcn"] * 3 + ["a"] * 3 + ["what,{"] * 3))
        self.assertEqual((table["raw.output"].dtype.kind, table["raw.output"].tolist()), ("S", [[b"x", b"\xff\xfe"]] * 9))

    def test_shapes_that_differ(self):
        """Each point's by itself, and which of them have one."""
        self.write([{"set": "n.value", "name": "n", "values": [1, "what", 2]}],
                   [block("n", "Const", {"value": {"dtype": "DT_INT32", "shape": [1], "values": [0]}}), block("f", "Fill", {"dims": "n.output", "value": number(3)})],
                   ["f.output"], set={"n.dtype": "DT_INT32"})
        table = self.table(status=1)
        self.assertEqual({name: table[name].tolist() for name in table if name.startswith("f.")},
                         {"f.output/0": [3], "f.output/2": [3, 3], "f.output.valid": [True, False, True]})

    def test_names_that_are_taken(self):
        """Parameters that are called as arrays of the table are."""
        self.write([{"set": "c.value", "name": "point", "values": [5, 6]}, {"set": "d.value", "name": "seconds", "values": [7.5]}],
                   [block("c", "Const", {"value": number(1)}), block("d", "Const", {"value": number(1)})], ["c.output", "d.output"])
        table = self.table()
        self.assertEqual((table["point"].tolist(), table["point_"].tolist(), table["seconds_"].tolist()), ([0, 1], [5, 6], [7.5, 7.5]))

    def test_types(self):
        """Floating types stay so, whatever their values."""
        self.write([{"set": "c.value", "name": "v", "values": [3, 4]}], [block("c", "Const", {"value": number(1)})], ["c.output"])
        table = self.table()
        self.assertEqual((table["c.output"].dtype, table["c.output"].tolist(), table["v"].dtype), (numpy.float64, [3, 4], numpy.int64))

    def test_values_that_are_no_numbers(self):
        self.write([{"set": "c.value", "name": "v", "values": [1, 0, -1, "inf"]}], [block("c", "Const", {"value": number(1)}), block("log", "Log", {"x": "c.output"})], ["log.y"])
        table = self.table()
        numpy.testing.assert_array_equal(table["log.y"], [0, -numpy.inf, numpy.nan, numpy.inf])
        self.weft("--table", str(self.folder / "t.csv"))
        with open(self.folder / "t.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["log.y"] for row in rows], ["0", "-inf", "nan", "inf"])

    def test_feeds_from_files(self):
        """They lie beside the grid, wherever the program runs; one that all points get, and one of each."""
        for name, values in (("a", [1, 2]), ("b", [3, 4]), ("all", [10, 20])):
            numpy.save(self.folder / f"{name}.npy", numpy.array(values, numpy.float32))
        self.write([{"feed": "x.output", "name": "file", "values": ["@a.npy", "@b.npy", "{5,6}", "@none.npy"]}],
                   [block("x", "Placeholder", attrs="dtype_ = DT_FLOAT;"), block("y", "Placeholder", attrs="dtype_ = DT_FLOAT;"),
                    block("z", "Add", {"x": "x.output", "y": "y.output"})], ["z.z"], feed={"y.output": "@all.npy"})
        numpy.testing.assert_array_equal(self.table(status=1)["z.z"], [[11, 22], [13, 24], [15, 26], [numpy.nan, numpy.nan]])
        self.assertIn("none.npy", [line for line in self.lines() if "error" in line][0]["error"]["message"])


if __name__ == "__main__":
    unittest.main()
