#!/usr/bin/env python3
"""A host to start from: an editor of Weft's pages made of NodeGraphQt (PySide6). The page is the truth: what is drawn follows it.

    pip install NodeGraphQt PySide6-Essentials setuptools     # and Debian's libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1
    python nodegraphqt_host.py graphs/softmax_regression.page.json loss.output
"""
import pathlib
import sys

import weft
from NodeGraphQt import BaseNode, NodeGraph
from PySide6 import QtCore, QtGui, QtWidgets

FITS, PLAIN, FAULTY = (240, 200, 60), (20, 30, 45), (120, 25, 25)  # colours of ports that a wire may go to, and of blocks


def palette_class(block):
    """The kind of node that stands for a block of the palette."""
    def make(self):
        BaseNode.__init__(self)
        for port in block.get("inputs", ()):
            self.add_input(port["port"], multi_input=any("list" in key for key in port))
        for port in block.get("outputs", ()):
            self.add_output(port["port"])
        self.add_output("operation")  # the block itself, for what runs it

    return type(block["block"], (BaseNode,), {"__identifier__": block["category"], "NODE_NAME": block["block"], "__init__": make})


class Plot(QtWidgets.QWidget):
    """A value while it runs, as a line."""

    def __init__(self):
        super().__init__()
        self.values = []
        self.setMinimumHeight(120)

    def add(self, values):
        self.values = [*self.values, *values][-2000:]
        self.update()

    def paintEvent(self, _event):
        painter = QtGui.QPainter(self)
        painter.fillRect(self.rect(), QtGui.QColor("white"))
        if len(self.values) < 2:
            return
        low, high = min(self.values), max(self.values)
        across, up = (self.width() - 8) / (len(self.values) - 1), (self.height() - 8) / ((high - low) or 1)
        points = [QtCore.QPointF(4 + i * across, self.height() - 4 - (value - low) * up) for i, value in enumerate(self.values)]
        painter.setRenderHint(QtGui.QPainter.Antialiasing)
        painter.setPen(QtGui.QPen(QtGui.QColor("#2f66c8"), 2))
        painter.drawPolyline(points)
        painter.drawText(8, 16, f"{self.values[-1]:.6g}")


class Host(QtWidgets.QMainWindow):
    """One page: its graph, its runs, a plot of one value."""

    def __init__(self, path, plotted=None):
        super().__init__()
        self.path, self.page = pathlib.Path(path), weft.load(path, keep_faulty=True)
        self.nodes, self.following, self.cut, self.session, self.subscription = {}, False, None, None, None
        self.plotted, self.plot = plotted, Plot()
        self.graph = NodeGraph()
        self.graph.set_acyclic(False)  # the page says what makes a cycle
        self.kinds = {}
        for block in self.page.runtime.blocks():
            self.graph.register_node(palette_class(block))
            self.kinds.update({name: f"{block['category']}.{block['block']}" for name in [block["block"], *block.get("aliases", ())]})
        splitter = QtWidgets.QSplitter(QtCore.Qt.Vertical)
        splitter.addWidget(self.graph.widget)
        splitter.addWidget(self.plot)
        self.setCentralWidget(splitter)
        bar = self.addToolBar("page")
        for name, key, do in (("Run", "F5", self.run), ("Stop", "F6", self.stop), ("Undo", "Ctrl+Z", lambda: self.edit(self.page.undo)),
                              ("Redo", "Ctrl+Y", lambda: self.edit(self.page.redo)), ("Arrange", "F7", self.arrange), ("Save", "Ctrl+S", self.save)):
            bar.addAction(name, do).setShortcut(key)
        self.draw()
        self.timer = QtCore.QTimer(self, interval=30)
        for signal, do in ((self.graph.port_connected, self.on_connected), (self.graph.port_disconnected, self.on_disconnected),
                           (self.graph.node_created, self.on_created), (self.graph.nodes_deleted, self.on_deleted),
                           (self.graph.viewer().moved_nodes, self.on_moved), (self.timer.timeout, self.poll)):
            signal.connect(lambda *arguments, do=do: self.following or do(*arguments))
        self.follow_drags()
        self.timer.start()

    # ---- from the page to what is drawn ----

    def draw(self):
        """All of the page, placed as it says, or automatically."""
        places = {**self.page.layout(auto=True), **self.page.layout()}
        for id in self.page.blocks:
            self.draw_block(id, places.get(id, (0, 0)))
        for id in self.page.blocks:
            self.draw_wires(id)
        self.mark_faults()

    def draw_block(self, id, place):
        kind = self.kinds.get(self.page.block(id)["block"], "core.Status")  # which stands for blocks that are not known
        self.following = True
        self.nodes[id] = self.graph.create_node(kind, name=id, pos=list(place), push_undo=False, selected=False)
        self.following = False

    def draw_wires(self, id):
        """The wires into a block, anew. Values on the page have none."""
        self.following = True
        for port in self.nodes[id].input_ports():
            port.clear_connections(push_undo=False, emit_signal=False)
        for source, to in self.page.wires():
            (begin, out), (block, port) = source.split("[")[0].split("."), to.split("[")[0].split(".")
            first = self.nodes[begin].get_output(out) if block == id and begin in self.nodes else None
            last = self.nodes[id].get_input(port)
            if first is not None and last is not None:
                first.connect_to(last, push_undo=False, emit_signal=False)
        self.following = False

    def follow(self):
        """What the last edit, undo or redo changed is drawn anew, and nothing else."""
        changes = self.page.changes
        self.following = True
        for id in {*changes.removed} & {*self.nodes}:
            self.graph.delete_node(self.nodes.pop(id), push_undo=False)
        self.following = False
        for old, new in changes.renamed:
            self.nodes[new] = self.nodes.pop(old)
            self.nodes[new].set_name(new)
        places = self.page.layout()
        for id in {*changes.added} - {*self.nodes}:
            self.draw_block(id, places.get(id, (0, 0)))
        for id in [*changes.added, *changes.changed, *(new for _, new in changes.renamed)]:
            self.draw_wires(id)
        for id in {*changes.moved} & {*places} & {*self.nodes}:
            self.nodes[id].set_pos(*places[id])
        self.mark_faults()

    def mark_faults(self):
        faulty = {found.block: found for found in self.page.diagnostics if found.severity == "error"}
        for id, node in self.nodes.items():
            node.set_property("color", (*(FAULTY if id in faulty else PLAIN), 255), push_undo=False)
            node.view.setToolTip(str(faulty[id]) if id in faulty else "\n".join(str(reason) for reason in self.page.why_not(id)))
        self.statusBar().showMessage("; ".join(str(found) for found in faulty.values()))

    # ---- wires while they are dragged ----

    def follow_drags(self):
        """Highlights what a wire may be joined with from when it leaves its port until it ends."""
        viewer = self.graph.viewer()
        start, end = viewer.start_live_connection, viewer.end_live_connection

        def started(port):
            start(port)
            if port is not None:
                self.highlight(f"{port.node.name}.{port.name}", port.port_type == "out")

        def ended():
            end()
            self.highlight(None)

        viewer.start_live_connection, viewer.end_live_connection = started, ended

    def highlight(self, port, output=True):
        """Marks the ports that a wire from (or to) `port` fits; None: no more."""
        fits = set() if port is None else set(self.page.inputs_for(port) if output else self.page.outputs_for(port))
        for id, node in self.nodes.items():
            for one in [*node.input_ports(), *node.output_ports()]:
                one.color = FITS if f"{id}.{one.name()}" in fits else (180, 80, 0)

    # ---- from what is drawn to the page ----

    def edit(self, change, *arguments, **options):
        """Edits the page and draws what that changed; what it refuses is said, and nothing is changed."""
        try:
            if change(*arguments, **options) is False:  # nothing to undo
                return False
        except weft.Error as error:
            self.statusBar().showMessage(str(error))
            return False
        self.follow()
        return True

    def on_connected(self, to, source):
        name, target = f"{source.node().name()}.{source.name()}", f"{to.node().name()}.{to.name()}"
        self.cut, refused = None, self.page.check_wire(name, target)
        if refused is None:
            return self.edit(self.page.connect, name, target)
        self.draw_wires(to.node().name())  # as it was
        self.statusBar().showMessage(str(refused))

    def on_disconnected(self, to, source):
        """Cut when the event is over: another wire may take the place of this one, or be refused."""
        self.cut = (f"{source.node().name()}.{source.name()}", f"{to.node().name()}.{to.name()}")
        QtCore.QTimer.singleShot(0, self.cut_wire)

    def cut_wire(self):
        cut, self.cut = self.cut, None
        for wire, target in self.page.wires():
            if (wire.split("[")[0], target.split("[")[0]) == cut:
                return self.edit(self.page.disconnect, target)

    def on_created(self, node):
        """A node from the palette becomes a block of the page."""
        name = type(node).NODE_NAME.lower()
        id = next(id for id in [name, *(f"{name}_{number}" for number in range(2, len(self.nodes) + 3))] if id not in self.nodes)
        node.set_name(id)
        self.nodes[id] = node
        self.edit(self.page.add, id, type(node).NODE_NAME, layout=node.pos())

    def on_deleted(self, _ids):
        left = self.graph.all_nodes()
        gone = [id for id, node in self.nodes.items() if node not in left]
        self.nodes = {id: node for id, node in self.nodes.items() if id not in gone}
        self.edit(self.page.edit, *({"op": "remove", "block": id} for id in gone))

    def on_moved(self, moved):
        self.edit(self.page.edit, *({"op": "move", "block": view.name, "layout": list(view.xy_pos)} for view in moved))

    def arrange(self):
        self.edit(self.page.set_key, None, "layout", self.page.layout(auto=True))

    # ---- running ----

    def run(self):
        self.stop()
        self.session = self.page.session()
        if self.plotted:
            self.subscription = self.session.subscribe(self.plotted)
        self.session.start(interval=0.002)  # takes each edit up at its next run

    def poll(self):
        if self.subscription is not None:
            self.plot.add([float(sample.value) for sample in self.subscription.samples() if sample.value is not None])

    def stop(self):
        if self.session is not None:
            self.poll()
            self.session.close()
        self.session = self.subscription = None

    def save(self):
        self.path.write_text(self.page.to_json())


if __name__ == "__main__":
    application = QtWidgets.QApplication(sys.argv)
    window = Host(*sys.argv[1:3])  # a page, and a value to plot
    window.resize(1300, 850)
    window.show()
    sys.exit(application.exec())
