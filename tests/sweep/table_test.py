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
        """Single values become columns, tensors of one shape a matrix, others arrays of their own; points that failed are left out."""
        self.write([{"set": "c.value", "name": "v", "values": ["{1,2}", "{3,4}", "what", "{5,6}"]}, {"set": "k.value", "name": "k", "values": [7, 8]}],
                   [block("c", "Const", {"value": {"dtype": "DT_FLOAT", "shape": [2], "values": [0, 0]}}),
                    block("k", "Const", {"value": {"dtype": "DT_INT32", "shape": [], "values": [0]}}),
                    block("size", "Fill", {"dims": {"dtype": "DT_INT32", "shape": [1], "values": [2]}, "value": "k.output"}),
                    block("twice", "Add", {"x": "c.output", "y": "c.output"}),
                    block("sum", "Sum", {"input": "c.output", "axis": {"dtype": "DT_INT32", "shape": [1], "values": [0]}}),
                    block("big", "Greater", {"x": "sum.output", "y": number(4)}), block("half", "Log", {"x": "sum.output"})],
                   ["twice.z", "sum.output", "big.z", "k.output", "half.y"])
        table = self.table(status=1)
        self.assertEqual(table["point"].tolist(), [0, 1, 2, 3, 6, 7])
        self.assertEqual((table["twice.z"].dtype, table["twice.z"].tolist()), (numpy.float32, [[2, 4], [2, 4], [6, 8], [6, 8], [10, 12], [10, 12]]))
        self.assertEqual(table["sum.output"].tolist(), [3, 3, 7, 7, 11, 11])
        self.assertEqual((table["big.z"].dtype, table["big.z"].tolist()), (bool, [False, False, True, True, True, True]))
        self.assertEqual((table["k"].dtype, table["k.output"].tolist()), (numpy.int64, [7, 8, 7, 8, 7, 8]))
        self.assertEqual(numpy.float32(table["half.y"][0]), numpy.log(numpy.float32(3)))

    def test_shapes_that_differ(self):
        self.write([{"set": "n.value", "name": "n", "values": [1, 2]}],
                   [block("n", "Const", {"value": {"dtype": "DT_INT32", "shape": [1], "values": [0]}}), block("f", "Fill", {"dims": "n.output", "value": number(3)})],
                   ["f.output"], set={"n.dtype": "DT_INT32"})
        table = self.table()
        self.assertEqual({name: table[name].tolist() for name in table if name.startswith("f.")}, {"f.output/0": [3], "f.output/1": [3, 3]})

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
        self.assertEqual(self.table(status=1)["z.z"].tolist(), [[11, 22], [13, 24], [15, 26]])
        self.assertIn("none.npy", [line for line in self.lines() if "error" in line][0]["error"]["message"])


if __name__ == "__main__":
    unittest.main()
