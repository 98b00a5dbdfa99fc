#!/usr/bin/env python3
"""The benchmarks, without the peers: ratios, families, tables and charts, options; tools/bench_growth and bench_threads. Last line: peers: N tests, M failed."""
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = pathlib.Path(__file__).resolve().parents[1]
WEFT = ROOT / "build/release/bin/weft"
sys.path.insert(0, str(ROOT / "tools/peers"))
sys.dont_write_bytecode = True
import environment  # noqa: E402
import page_blocks  # noqa: E402
import pages  # noqa: E402
import ratios  # noqa: E402
import table  # noqa: E402

FACTS = '{"facts": {"date": "2000-01-01", "machine": "M & N", "threads": 2, "weft": "weft 1"}}'
LINES = [
    {"case": "Add.16x16", "min_ms": 0.002, "bytes": 3072, "limit": "triad"},
    {"case": "Add.16x16", "min_ms": 0.001, "bytes": 3072, "limit": "triad"},
    {"case": "Add.1024x1024", "min_ms": 0.004, "bytes": 12582912, "limit": "triad"},
    {"case": "Add.2048x2048", "min_ms": 0.004, "bytes": 50331648, "limit": "triad"},
    {"case": "BiasAdd.8x7x7x2048.NHWC.half", "min_ms": 0.003, "bytes": 3215360, "limit": "triad", "passes": 1, "limit_ms": 0.0025},
    {"case": "BiasAdd.8x7x7x2048.NHWC.half", "min_ms": 0.004, "bytes": 3215360, "limit": "triad", "passes": 1, "limit_ms": 0.0024},
    {"case": "MatMul.256", "min_ms": 0.1, "bytes": 786432, "flops": 33554432, "limit": "product"},
    {"case": "xor", "keep": "asked", "best_step_us": 2.0},
    {"case": "Add.16x16", "peer": "tensorflow 2", "min_ms": 0.002},
    {"case": "Add.1024x1024", "peer": "tensorflow 2", "min_ms": 0.032},
    {"case": "Add.2048x2048", "peer": "tensorflow 2", "min_ms": 0.002},
    {"case": "xor", "keep": "asked", "peer": "tensorflow 2", "best_step_us": 50.0},
    {"case": "xor", "keep": "asked", "peer": "tensorflow-xla 2", "best_step_us": 30.0},
    {"case": "Add.16x16", "peer": "torch 2", "refused": "no"},
    {"case": "BiasAdd.8x7x7x2048.NHWC.half", "peer": "torch 2", "min_ms": 0.009},
    {"case": "BiasAdd.8x7x7x2048.NCHW.half", "peer": "torch 2", "min_ms": 0.006},
]


def rounded(value):
    return round(value, 6)


class RatiosTest(unittest.TestCase):
    def setUp(self):
        self.rows = ratios.rows(LINES, ["tensorflow", "torch"])

    def test_best_against_best(self):
        found = {row.case: rounded(row.against["tensorflow"][1]) for row in self.rows if "tensorflow" in row.against}
        self.assertEqual(found, {"Add.16x16": 2, "Add.1024x1024": 8, "Add.2048x2048": 0.5, "xor (asked)": 25})
        self.assertEqual([row.case for row in self.rows if "torch" in row.against], ["BiasAdd.8x7x7x2048.NHWC.half"])

    def test_torch_may_choose_its_layout(self):
        row = next(row for row in self.rows if row.case.startswith("BiasAdd"))
        self.assertEqual((rounded(row.against["torch"][1]), rounded(row.against[ratios.BETTER_LAYOUT][1])), (3, 2))

    def test_families(self):
        summary = next(summary for summary in ratios.summaries(self.rows, "tensorflow", ratios.family_of) if summary.name == "Add")
        self.assertEqual((len(summary.ratios), summary.faster, rounded(summary.mean), min(summary.ratios)), (2, 1, 2, 0.5))
        names = [ratios.family_of(row) for row in self.rows]
        self.assertEqual(names, ["xor (asked)", "Add", "Add", "BiasAdd.NHWC.half", "MatMul", ratios.SMALL])

    def test_overall(self):
        found = {summary.name: len(summary.ratios) for summary in ratios.overall(self.rows, "tensorflow")}
        self.assertEqual(found, {"pages": 1, "kernels that memory bounds, from 1 MB": 2, ratios.SMALL: 1, "all kernels": 3})


class LevelTest(unittest.TestCase):
    def test_a_level_limits_every_library_that_chooses_by_the_processor(self):
        limited = environment.settings_of("tensorflow-xla", "v3")
        self.assertEqual({name: limited[name] for name in ("ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS", "ATEN_CPU_CAPABILITY")},
                         {"ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"})
        self.assertTrue(limited["XLA_FLAGS"].endswith("--xla_cpu_max_isa=AVX2"))
        self.assertEqual(environment.settings_of("torch-compile", "v4")["WEFT_PEER_SIMDLEN"], "512")

    def test_without_a_level_only_the_compiler_is_chosen(self):
        self.assertEqual(environment.settings_of("torch"), {})
        self.assertEqual(environment.settings_of("tensorflow-xla"), {"TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit"})

    def test_every_peer_has_a_name_a_color_and_programs(self):
        for peer, described in environment.PEERS.items():
            self.assertIn(peer, table.TITLES)
            self.assertIn(peer, table.COLORS)
            self.assertIn(described.packages, environment.PACKAGES)
            for program in filter(None, (described.kernels, described.pages)):
                self.assertTrue((ROOT / "tools/peers" / program).is_file(), program)


class PageBlocksTest(unittest.TestCase):
    PAGE = {"blocks": [
        {"id": "start", "block": "RandomNormal_ex", "attrs": "shape_ = [2][3];name_ = \"a;b\";"},
        {"id": "sum", "block": "AddN", "inputs": {"inputs": ["w.ref", "twice.z"]}},
        {"id": "w", "block": "Variable", "inputs": {"initvalues": "start.output"}},
        {"id": "twice", "block": "Add", "inputs": {"x": "w.ref", "y": {"dtype": "DT_FLOAT", "shape": [], "values": [1]}}},
        {"id": "unread", "block": "Add", "inputs": {"x": "w.ref", "y": "w.ref"}},
        {"id": "run", "block": "ClientSession", "inputs": {"fetch_outputs": ["sum.sum"], "run_outputs": ["twice.operation"]}}]}

    def test_a_step_has_what_is_asked_for_after_what_it_reads(self):
        self.assertEqual([block["id"] for block in page_blocks.step_order(self.PAGE)], ["w", "twice", "sum"])
        self.assertEqual(page_blocks.asked_for(self.PAGE), (["sum.sum"], ["twice"]))

    def test_a_variable_starts_from_what_it_reads(self):
        self.assertEqual([block["id"] for block in page_blocks.ordered(self.PAGE["blocks"], ["w"])], ["start", "w"])

    def test_a_wire_to_nothing(self):
        with self.assertRaisesRegex(ValueError, "'gone'"):
            page_blocks.ordered([{"id": "a", "block": "Add", "inputs": {"x": "gone.z"}}], ["a"])

    def test_attributes(self):
        self.assertEqual(page_blocks.attributes(self.PAGE["blocks"][0]), {"shape": "[2][3]", "name": '"a;b"'})
        self.assertEqual(page_blocks.attributes({"attrs": {"strides_": [1, 2]}}), {"strides": [1, 2]})
        self.assertEqual((page_blocks.numbers("[2][3]"), page_blocks.numbers("{1,-2}"), page_blocks.numbers([4])), ([2, 3], [1, -2], [4]))

    def test_literals(self):
        self.assertEqual([value["shape"] for value in page_blocks.literals(list(self.PAGE["blocks"][3]["inputs"].values()))], [[]])


class PagesTest(unittest.TestCase):
    def test_every_wire_ends_at_a_block(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in pages.write(pathlib.Path(folder)):
                page = json.loads(path.read_text())
                ids = {block["id"] for block in page["blocks"]}
                self.assertEqual(len(ids), len(page["blocks"]), path)
                wires = [wire for block in page["blocks"] for given in block["inputs"].values() for wire in (given if isinstance(given, list) else [given])]
                self.assertTrue(all(wire.split(".")[0] in ids for wire in wires if isinstance(wire, str)), path)


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
            self.assertIn("| Add | 2 | 1 | 2.00x | 0.500x | 8.00x |", text)
            self.assertIn("2000-01-01, M & N, 2 threads each; weft 1, tensorflow 2, tensorflow-xla 2, torch 2.", text)
            self.assertNotIn("Processors of", text)
            # A compiler is in the table of pages, and no empty column in that of kernels.
            self.assertIn("| case | Weft | TensorFlow | ratio | TensorFlow with XLA | ratio |\n", text)
            self.assertIn("| xor (asked) | 2.00 us | 50.0 us | 25.0x | 30.0 us | 15.0x |", text)
            self.assertIn("| case | Weft | TensorFlow | ratio | PyTorch | ratio |\n", text)
            # The shortest limit of all repeats: 2.4 us of 3, and 9 us of PyTorch over it.
            self.assertIn("| BiasAdd.8x7x7x2048.NHWC.half | 1 | 3.2 MB | 2.40 us | 3.00 us | 0.80 | 9.00 us | 3.00x | 3.75x |", text)
            self.assertIn("| xor (asked) | 2.00 us | 50.0 us | 25.0x | 30.0 us | 15.0x |", (pathlib.Path(folder) / "overview.md").read_text())
            xml.dom.minidom.parse(str(pathlib.Path(folder) / "peers.svg"))

    def test_table_of_a_level(self):
        with tempfile.TemporaryDirectory() as folder:
            measured = pathlib.Path(folder) / "measured.jsonl"
            measured.write_text("\n".join([FACTS.replace('"threads": 2', '"threads": 2, "level": "v3"')] + [json.dumps(line) for line in LINES]) + "\n")
            self.assertEqual(self.run_program("--from", str(measured), "--out", folder).returncode, 0)
            self.assertIn("Processors of x86-64-v3", (pathlib.Path(folder) / "peers.md").read_text())
            self.assertIn("x86-64-v3", (pathlib.Path(folder) / "peers.svg").read_text())

    def test_publishing(self):
        loader = importlib.machinery.SourceFileLoader("bench_peers", str(ROOT / "tools/bench_peers"))
        bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_peers", loader))
        loader.exec_module(bench)
        with tempfile.TemporaryDirectory() as folder:
            root, made = pathlib.Path(folder) / "root", pathlib.Path(folder) / "made"
            (root / "docs").mkdir(parents=True)
            made.mkdir()
            for name in ("peers.md", "overview.md", "peers.svg"):
                (made / name).write_text(f"# {name}\n\nfigures\n")
            (root / "README.md").write_text("a\n<!-- peers -->\nold\n<!-- end of peers -->\nb\n")
            for level in (None, "v3", "v4", None, "v3"):
                bench.publish(made, level, root)
            self.assertEqual((root / "README.md").read_text(), "a\n<!-- peers -->\n# overview.md\n\nfigures\n<!-- end of peers -->\nb\n")
            self.assertEqual((root / "docs/peers.md").read_text(),
                             "# peers.md\n\nHeld to a level of processors: [x86-64-v3](peers-v3.md), [x86-64-v4](peers-v4.md).\n\nfigures\n")
            self.assertEqual((root / "docs/peers-v3.md").read_text(), "# peers.md\n\nfigures\n")

    def test_wrong_use(self):
        for arguments in (["--level", "v9"], ["--peers", "fortran"], ["--repeats", "0"], ["--weft", "/no/such/program"], ["--from", "/dev/null"]):
            self.assertNotEqual(self.run_program(*arguments).returncode, 0, arguments)


@unittest.skipUnless(WEFT.exists(), "weft is not built")
class ToolsTest(unittest.TestCase):
    def run_tool(self, name, *arguments):
        done = subprocess.run([sys.executable, "-B", str(ROOT / "tools" / name), *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_growth_tells_the_time_of_a_block_for_each_size(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_tool("bench_growth", "--kinds", "chain", "--most", "1000", "--seconds", "0.01", "--out", folder)
            lines = (pathlib.Path(folder) / "growth.md").read_text().splitlines()
            self.assertEqual([line.split(" | ")[1] for line in lines if line.startswith("| chain")], ["99", "999"])
            xml.dom.minidom.parse(str(pathlib.Path(folder) / "growth.svg"))

    def test_threads_compares_each_case_with_one_thread(self):
        out = self.run_tool("bench_threads", "--case", "MatMul.16", "--threads", "1,2,99", "--repeats", "1", "--seconds", "0.01").splitlines()
        self.assertIn("gain", out[0])
        self.assertTrue(out[0].endswith("| 99 threads, ms | of that time |"), out[0])
        self.assertTrue(out[2].startswith("| MatMul.16 | "), out)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"peers: {result.testsRun} tests, {bad} failed")
    sys.exit(bad > 0)
