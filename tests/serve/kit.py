"""What the tests of the server share: the program, folders, pages."""
import json
import os
import pathlib
import shutil
import signal
import tempfile
import time
import unittest

from client import PATIENCE, Failed, Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("WEFT_BUILD") or ROOT / "build/release")
PROGRAM = os.environ.get("WEFT_PROGRAM") or str(BUILD / "bin/weft")


def number(value, dtype="DT_FLOAT"):
    return {"dtype": dtype, "shape": [], "values": [value]}


def block(id_, type_, attrs=None, **inputs):
    made = {"id": id_, "block": type_}
    if attrs:
        made["attrs"] = attrs
    if inputs:
        made["inputs"] = inputs
    return made


def page_text(*blocks, name="test"):
    return json.dumps({"weft": 1, "page": name, "blocks": list(blocks)})


def counter(steps=None):
    """A page whose only variable grows by one with each run."""
    return page_text(block("n", "Variable", initvalues=number(0)), block("up", "AssignAdd", **{"ref": "n.ref", "value": number(1)}),
                     block("run", "ClientSession", run_outputs=["up.operation"], fetch_outputs=["up.output_ref"]))


def chain(length):
    """A page of a long chain of Tanh blocks."""
    blocks = [block("b0", "Const", value={"dtype": "DT_FLOAT", "shape": [4], "values": [1, 2, 3, 4]})]
    blocks += [block(f"b{i}", "Tanh", x=f"b{i - 1}." + ("output" if i == 1 else "y")) for i in range(1, length)]
    return page_text(*blocks)


class ServerTest(unittest.TestCase):
    """Each test has a server of its own, in a folder of its own with the XOR page."""
    options = ()
    command = "serve"

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-serve-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.work = self.folder / "pages"
        self.work.mkdir()
        shutil.copy(ROOT / "graphs/xor.page.json", self.work)
        self.server = self.start()

    def start(self, *options, env=None):
        environment = {"XDG_STATE_HOME": str(self.folder / "state"), **(env or {})}
        server = Server(PROGRAM, str(self.work), *(options or self.options), env=environment, command=self.command)
        self.addCleanup(self.end, server)
        return server

    def end(self, server):
        """Ends a server. What a sanitizer has found in it is a failure."""
        server.stop()
        server.reader.join(10)
        self.assertFalse(any("Sanitizer" in line for line in server.errors), "".join(server.errors))

    def open(self, **source):
        """The id of a page that was just opened, and the start of its paths."""
        page = self.server.post("/v1/pages", source or {"path": "xor.page.json"})
        return page["id"], "/v1/pages/" + page["id"]

    def connect(self, page=None, **options):
        """A WebSocket, closed at the end of the test. It follows the page that is named."""
        socket = self.server.socket(**options)
        self.addCleanup(socket.close)
        if page:
            socket.call("subscribe", topic="page", page=page)
        return socket

    def crash(self):
        """Kills the server and starts it again; what can be recovered then."""
        self.server.stop(signal.SIGKILL)
        self.server = self.start()
        return self.server.get("/v1/recovery")["recovery"]

    def fails(self, status, method, path, body=None, code=None, **options):
        """The error's body of a call that must fail."""
        with self.assertRaises(Failed) as caught:
            self.server.call(method, path, body, **options)
        self.assertEqual(caught.exception.status, status, caught.exception.body)
        error = caught.exception.body["error"]
        self.assertTrue(error["message"] and error["severity"] == "error", error)
        if code:
            self.assertEqual(error["code"], code)
        return caught.exception.body

    def wait_for(self, condition, what, seconds=20):
        end = time.time() + seconds * PATIENCE
        while not condition():
            self.assertLess(time.time(), end, f"waited in vain: {what}")
            time.sleep(0.01)

    def finish(self, run, outcome="ok"):
        ended = self.server.wait_for_run(run["id"])
        self.assertEqual(ended["outcome"], outcome, ended)
        return ended

    def tearDown(self):
        self.assertTrue(self.server.alive(), "the server ended: " + "".join(self.server.errors))
