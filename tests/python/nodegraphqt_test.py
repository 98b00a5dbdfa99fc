"""The host of NodeGraphQt beside this file, offscreen: needs its packages, which pip gets into an environment of the test; else it is skipped.

$WEFT_BUILD_FOLDER: where the environment and the picture are kept, so that it is made once; without it a temporary folder."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import weft

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "graphs/softmax_regression.page.json"

DRIVE = '''
import json, pathlib, sys, time
sys.path.insert(0, sys.argv[1])
from nodegraphqt_host import FITS, Host, QtWidgets
application = QtWidgets.QApplication([])
path, told = pathlib.Path(sys.argv[2]), {}
before = path.read_text()
host = Host(path, "loss.output")
host.resize(1400, 900)
host.show()

def pump(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        application.processEvents()
        time.sleep(0.01)

def port(name):
    id, port = name.split(".")
    node = host.nodes[id]
    return node.get_input(port) or node.get_output(port)

told["palette"] = len(host.kinds)
told["nodes"] = len(host.graph.all_nodes())
told["wires"] = sum(len(one.connected_ports()) for node in host.nodes.values() for one in node.input_ports())
host.save()
told["same bytes"] = path.read_text() == before

viewer = host.graph.viewer()
viewer._origin_pos = viewer.rect().center()
viewer.start_live_connection(port("points_w.product").view)  # as the mouse does
told["highlighted"] = sorted(f"{node.name()}.{one.name()}" for node in host.nodes.values() for one in node.input_ports() if tuple(one.color)[:3] == FITS)
viewer.end_live_connection()
told["highlighted after"] = sum(tuple(one.color)[:3] == FITS for node in host.nodes.values() for one in node.input_ports())

port("loss.output").connect_to(port("points_w.a"))  # a cycle
told["refused"] = host.statusBar().currentMessage()
told["wire stays"] = [one.node().name() for one in port("points_w.a").connected_ports()]

node = host.graph.create_node("math.Square", pos=[900, 300])  # from the palette
told["added"] = host.page.block("square")
told["faults"] = host.statusBar().currentMessage()
port("loss.output").connect_to(port("square.x"))
told["connected"] = host.page.block("square")
told["type"] = str(host.page.port_type("square.y"))
host.run()
for _ in range(100):
    pump(0.2)
    if len(host.plot.values) > 20:
        break
told["points"] = len(host.plot.values)
told["learns"] = host.plot.values[0] > host.plot.values[-1]
host.graph.fit_to_selection() if host.graph.selected_nodes() else host.graph.select_all() or host.graph.fit_to_selection()
host.graph.clear_selection()
pump(0.1)
host.grab().save(sys.argv[3])
while host.page.undo():  # while it runs
    host.follow()
pump(0.1)
told["nodes after undo"] = len(host.graph.all_nodes())
host.stop()
host.save()
told["same bytes after undo"] = path.read_text() == before
host.arrange()
told["arranged"] = len(host.page.layout())
host.edit(host.page.undo)
print("told " + json.dumps(told))
'''


class NodeGraphQtTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kept = os.environ.get("WEFT_BUILD_FOLDER")
        cls.folder = pathlib.Path(kept or tempfile.mkdtemp(prefix="weft-nodegraphqt-"))
        if not kept:
            cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.python = cls.folder / "nodegraphqt/bin/python"
        cls.environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(pathlib.Path(weft.__file__).parents[1]),
                           "PYTHONDONTWRITEBYTECODE": "1"}
        wanted = [cls.python, "-c", "import NodeGraphQt, numpy"]
        if not cls.python.exists() or cls.run_quietly(wanted):
            pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"]
            said = (cls.run_quietly(["/usr/bin/python3", "-m", "venv", "--system-site-packages", cls.python.parents[1]])
                    or cls.run_quietly([cls.python, *pip, "NodeGraphQt", "PySide6-Essentials", "setuptools"]))
            if said:
                raise unittest.SkipTest(f"NodeGraphQt and PySide6 cannot be had: {said.splitlines()[-1]}")
            if said := cls.run_quietly(wanted):  # Debian's EGL, GL, xkbcommon, dbus and fontconfig
                raise unittest.SkipTest(f"PySide6 does not load: {said.splitlines()[-1]}")

    @classmethod
    def run_quietly(cls, command):
        """What a command said where it failed; else nothing."""
        try:
            done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=240, env=cls.environment)
        except subprocess.TimeoutExpired:
            return f"{command[0]} takes too long"
        return "" if done.returncode == 0 else done.stderr or done.stdout or f"ended with {done.returncode}"

    def test_host(self):
        with tempfile.TemporaryDirectory() as folder:
            page = shutil.copy(PAGE, folder)
            picture = self.folder / "nodegraphqt.png"
            done = subprocess.run([self.python, "-c", DRIVE, HERE, page, picture], capture_output=True, text=True, timeout=120, env=self.environment)
        lines = [line for line in done.stdout.splitlines() if line.startswith("told ")]
        self.assertTrue(lines and done.returncode == 0, done.stdout + done.stderr)
        told = json.loads(lines[0][5:])
        original = json.loads(PAGE.read_text())
        self.assertEqual(told["nodes"], len(original["blocks"]))
        self.assertEqual(told["wires"], len(weft.load(PAGE).wires()))
        self.assertGreater(told["palette"], 300)
        self.assertTrue(told["same bytes"])
        self.assertIn("logits.value", told["highlighted"])
        self.assertNotIn("points_w.a", told["highlighted"])  # a cycle
        self.assertNotIn("labels.indices", told["highlighted"])  # needs an integer
        self.assertEqual(told["highlighted after"], 0)
        self.assertIn("cycle", told["refused"])
        self.assertEqual(told["wire stays"], ["points"])
        self.assertEqual(told["added"], {"id": "square", "block": "Square"})
        self.assertIn("square", told["faults"])
        self.assertEqual(told["connected"]["inputs"], {"x": "loss.output"})
        self.assertEqual(told["type"], "DT_FLOAT []")
        self.assertGreater(told["points"], 20)
        self.assertTrue(told["learns"])
        self.assertEqual(told["nodes after undo"], len(original["blocks"]))
        self.assertTrue(told["same bytes after undo"])
        self.assertEqual(told["arranged"], len(original["blocks"]))
        self.assertGreater(picture.stat().st_size, 20000)

    def test_host_is_short(self):
        self.assertLess(len((HERE / "nodegraphqt_host.py").read_text().splitlines()), 250)


if __name__ == "__main__":
    sys.exit(unittest.main())
