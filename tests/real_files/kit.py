"""What the tests of real files share: a folder for each, blocks run by `weft run` there, other programs."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("WEFT_PROGRAM") or str(pathlib.Path(os.environ.get("WEFT_BUILD") or ROOT / "build/release") / "bin/weft")
TENSORFLOW = os.environ.get("WEFT_TENSORFLOW", "")
TYPES = {"DT_UINT8": "u1", "DT_UINT16": "u2", "DT_INT32": "i4", "DT_INT64": "i8", "DT_FLOAT": "f4", "DT_DOUBLE": "f8", "DT_BOOL": "?"}

needs_tensorflow = unittest.skipUnless(TENSORFLOW, "needs WEFT_TENSORFLOW, a Python that has TensorFlow")


def missing(program):
    return shutil.which(program) is None


def needs(program):
    return unittest.skipIf(missing(program), f"needs the program {program}")


class Refused(Exception):
    """Weft's error: `code`, `block`, `port`, `message`."""

    def __init__(self, diagnostic):
        super().__init__(diagnostic["message"])
        self.code, self.block, self.port = (diagnostic.get(key, "") for key in ("code", "block", "port"))


def literal(dtype, values, shape=None):
    """A value for an input, of numbers, texts or bytes."""
    values = list(values) if isinstance(values, (list, tuple)) else values
    shape = shape if shape is not None else [len(values)] if isinstance(values, list) else []
    plain = values if isinstance(values, list) else [values]
    written = [{"base64": base64.b64encode(v).decode()} if isinstance(v, bytes) else v for v in plain]
    return {"dtype": dtype, "shape": shape, "values": written}


def text(value):
    return literal("DT_STRING", value)


def from_literal(value):
    """An array of numbers, of strings an array of bytes."""
    values = value["values"]
    if value["dtype"] != "DT_STRING":
        return numpy.array([float(v) if isinstance(v, str) else v for v in values], dtype=TYPES[value["dtype"]]).reshape(value["shape"])
    array = numpy.empty(len(values), dtype=object)
    array[:] = [base64.b64decode(v["base64"]) if isinstance(v, dict) else v.encode() for v in values]
    return array.reshape(value["shape"])


def block(id_, type_, attrs="", **inputs):
    return {"id": id_, "block": type_, "attrs": attrs, "inputs": inputs}


def run_program(*arguments, data=None, cwd=None):
    """What another program writes."""
    done = subprocess.run([str(a) for a in arguments], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{arguments[0]} failed: {done.stderr.decode(errors='replace')}")
    return done.stdout


class FilesTest(unittest.TestCase):
    """Each test has a folder of its own, which its pages may read and write."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-files-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def run_blocks(self, blocks, fetch=(), run=()):
        """The values of these outputs, after one step in which they are evaluated and the blocks `run` have run. Raises Refused."""
        session = block("session", "ClientSession", fetch_outputs=list(fetch), run_outputs=[f"{id_}.operation" for id_ in run])
        page = {"weft": 1, "page": "files", "blocks": [*blocks, session]}
        (self.folder / "files.page.json").write_text(json.dumps(page))
        done = subprocess.run([PROGRAM, "run", "files.page.json", "--write", ".", "--keep", "asked", "--quiet", "--json",
                               "--results", "results.json"],
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            return [from_literal(value) for value in map(json.loads((self.folder / "results.json").read_text()).get, fetch)]
        self.assertEqual(done.returncode, 1, done.stderr)
        raise Refused(json.loads(done.stdout)["diagnostics"][0])

    def records(self, reader, attrs, *files, most=10000):
        """All records of the files: keys and values. (A reader gives records of one file at a time.)"""
        keys, values = [], []
        for file in files:
            blocks = [block("names", "FIFOQueue", "component_types_ = {DT_STRING};shapes_ = {[]};"), block("reader", reader, attrs),
                      block("put", "QueueEnqueueMany", handle="names.handle", components=[text([str(file)])]),
                      block("read", "ReaderReadUpTo", reader_handle="reader.reader_handle", queue_handle="names.handle",
                            num_records=literal("DT_INT64", most))]
            found = self.run_blocks(blocks, ["read.keys", "read.values"], ["put"])
            keys += list(found[0])
            values += list(found[1])
        return keys, values

    def assert_refused(self, code, message, *arguments, **named):
        with self.assertRaises(Refused) as refused:
            self.run_blocks(*arguments, **named)
        self.assertEqual(refused.exception.code, code)
        self.assertIn(message, str(refused.exception))

    def tensorflow(self, jobs):
        """What TensorFlow makes of jobs, in the folder: for each a list of values, or its error as a text (with_tensorflow.py)."""
        (self.folder / "jobs.json").write_text(json.dumps(jobs))
        run_program(TENSORFLOW, ROOT / "tests/real_files/with_tensorflow.py", cwd=self.folder)
        answers = json.loads((self.folder / "answers.json").read_text())
        return [answer if isinstance(answer, str) else [from_literal(value) for value in answer] for answer in answers]
