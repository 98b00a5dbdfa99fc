#!/usr/bin/env python3
"""The parts of tools/bench_peers that need no peers: ratios, families, the table and the chart, options. Last line: peers: N tests, M failed."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools/peers"))
sys.dont_write_bytecode = True
import ratios  # noqa: E402
import table  # noqa: E402

FACTS = '{"facts": {"date": "2000-01-01", "machine": "M & N", "threads": 2, "repeats": 2, "weft": "weft 1"}}'
LINES = [
    {"case": "Add.16x16", "min_ms": 0.002},
    {"case": "Add.16x16", "min_ms": 0.001},
    {"case": "Add.64x64", "min_ms": 0.004},
    {"case": "xor", "keep": "asked", "best_step_us": 2.0},
    {"case": "Add.16x16", "peer": "tensorflow 2", "min_ms": 0.002},
    {"case": "Add.64x64", "peer": "tensorflow 2", "min_ms": 0.032},
    {"case": "xor", "keep": "asked", "peer": "tensorflow 2", "best_step_us": 50.0},
    {"case": "Add.16x16", "peer": "torch 2", "refused": "no"},
]


class RatiosTest(unittest.TestCase):
    def setUp(self):
        self.rows = ratios.rows(ratios.best_times(LINES), ["tensorflow", "torch"])

    def test_best_against_best(self):
        found = {case: against["tensorflow"][1] for case, _, against in self.rows}
        self.assertEqual({case: round(ratio, 6) for case, ratio in found.items()}, {"Add.16x16": 2, "Add.64x64": 8, "xor (asked)": 25})
        self.assertTrue(all("torch" not in against for _, _, against in self.rows))

    def test_families(self):
        family, count, mean, low, high = ratios.families(self.rows, "tensorflow")[0]
        self.assertEqual((family, count, round(mean, 6), round(low, 6), round(high, 6)), ("Add", 2, 4, 2, 8))
        self.assertEqual(ratios.family_of("BiasAddGrad.64x14x14x256.NHWC.half"), "BiasAddGrad.NHWC.half")
        self.assertEqual(ratios.family_of("MatMul.64"), "MatMul")


class ProgramTest(unittest.TestCase):
    def run_program(self, *arguments):
        return subprocess.run([sys.executable, "-B", str(ROOT / "tools/bench_peers"), *arguments], capture_output=True, text=True)

    def test_table_from_measured_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            measured = pathlib.Path(folder) / "measured.jsonl"
            measured.write_text("\n".join([FACTS] + [json.dumps(line) for line in LINES]) + "\n")
            done = self.run_program("--from", str(measured), "--out", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("refused Add.16x16: no", done.stderr)
            text = (pathlib.Path(folder) / "peers.md").read_text()
            self.assertIn("| Add | 2 | 4.00x | 2.00x | 8.00x |", text)
            self.assertIn("2000-01-01, M & N, 2 threads each; weft 1, tensorflow 2, torch 2.", text)
            xml.dom.minidom.parse(str(pathlib.Path(folder) / "peers.svg"))

    def test_wrong_use(self):
        for arguments in (["--peers", "fortran"], ["--repeats", "0"], ["--weft", "/no/such/program"], ["--from", "/dev/null"]):
            self.assertNotEqual(self.run_program(*arguments).returncode, 0, arguments)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"peers: {result.testsRun} tests, {bad} failed")
    sys.exit(bad > 0)
