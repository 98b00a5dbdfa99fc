"""What is too long or too much: it is cut or refused, and all else stays as it was."""
import struct
import unittest

from kit import ServerTest, block, page_text

STRING_BYTES = 4096
JSON_BYTES = 64 << 20


def strings(*values):
    return {"dtype": "DT_STRING", "shape": [len(values)], "values": list(values)}


class LongStrings(ServerTest):
    def texts(self, *values):
        """A page whose value i.output has these strings."""
        return self.open(text=page_text(block("s", "Const", value=strings(*values)), block("i", "Identity", input="s.output"),
                                        block("run", "ClientSession", fetch_outputs=["i.output"])), name="texts")

    def test_strings_are_cut_in_summaries_and_samples(self):
        # One byte, then characters of two: the last one that would begin in time would end too late.
        long, most = "x" + "ä" * STRING_BYTES, "y" * STRING_BYTES
        page, path = self.texts(long, most, "short")
        cut = ["x" + "ä" * 2047, most, "short"]
        socket = self.connect()
        socket.call("subscribe", topic="value", page=page, name="i.output", reduction="each", interval_ms=0)
        socket.call("subscribe", topic="summaries", page=page, names=["i.output"], interval_ms=16)
        self.finish(self.server.post("/v1/runs", {"page": page}))
        summary = self.server.post(path + "/values", {"names": ["i.output"]})["values"]["i.output"]
        self.assertEqual((summary["first"], summary["cut"]), (cut, True))
        sent = socket.wait("values")["values"]["i.output"]
        self.assertEqual((sent["first"], sent["cut"]), (cut, True))
        frame = socket.wait_frame()
        self.assertEqual((frame["values"], frame["cut"]), (cut, True))
        value = self.server.get(path + "/value?name=i.output")
        self.assertEqual((value["values"], value["cut"]), ([long, most, "short"], False))

    def test_strings_that_fit_are_whole(self):
        page, path = self.texts("y" * STRING_BYTES, "")
        socket = self.connect()
        socket.call("subscribe", topic="value", page=page, name="i.output", reduction="each", interval_ms=0)
        self.finish(self.server.post("/v1/runs", {"page": page}))
        self.assertNotIn("cut", self.server.post(path + "/values", {"names": ["i.output"]})["values"]["i.output"])
        self.assertFalse(socket.wait_frame()["cut"])

    def many(self, text, count):
        """The path of a page that has run, whose value many.output has the text so often."""
        blocks = [block("many", "Fill", dims={"dtype": "DT_INT32", "shape": [1], "values": [count]}, value={**strings(text), "shape": []}),
                  block("run", "ClientSession", fetch_outputs=["many.output"])]
        page, path = self.open(text=page_text(*blocks), name="many")
        self.finish(self.server.post("/v1/runs", {"page": page}))
        return path

    def test_answers_of_values_are_bounded(self):
        size, count = 1_000_000, JSON_BYTES // 1_000_000 + 1
        path = self.many("z" * size, count)
        error = self.fails(413, "GET", path + "/value?name=many.output", code="resource_exhausted")["error"]
        self.assertIn("slice", error["hint"])
        self.assertEqual([len(each) for each in self.server.get(path + "/value?name=many.output&slice=2:4")["values"]], [size] * 2)
        summary = self.server.post(path + "/values", {"first": 1000})["values"]["many.output"]
        self.assertEqual([len(each) for each in summary["first"]], [STRING_BYTES] * count)

    def test_escapes_count(self):
        path = self.many("\u0001" * 1_000_000, JSON_BYTES // 6_000_000 + 1)
        self.fails(413, "GET", path + "/value?name=many.output", code="resource_exhausted")


class FeedsWithoutRoom(ServerTest):
    options = ("--page-memory", "200M", "--memory", "1G")

    def feed(self, count):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}".ljust(117) + "\n"
        value = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * count)
        return {"method": "PUT", "path": f"{self.path}/feed?name=x.output", "body": value, "headers": {"Content-Type": "application/x-npy"}}

    def test_a_feed_is_for_all_sessions_or_for_none(self):
        """Of 200 MiB each feed is taken by the server and by three sessions: 48 MB have room, 56 MB have none in the last session."""
        sessions = [block(f"run{i}", "ClientSession", fetch_outputs=["n.y"]) for i in range(3)]
        text = page_text(block("x", "Placeholder", "dtype_ = DT_FLOAT;"), block("n", "Tanh", x="x.output"), *sessions)
        page, self.path = self.open(text=text, name="fed")
        feeds = lambda: [each["shape"] for each in self.server.get(self.path + "/feeds")["feeds"]]
        self.fails(507, **self.feed(14_000_000), code="resource_exhausted")
        self.assertEqual(feeds(), [])
        # What sessions had taken is free again.
        self.server.call(**self.feed(12_000_000))
        self.server.call("DELETE", self.path + "/feed?name=x.output")
        self.server.call(**self.feed(1000))
        self.fails(507, **self.feed(14_000_000), code="resource_exhausted")
        self.assertEqual(feeds(), [[1000]])
        self.finish(self.server.post("/v1/runs", {"page": page}))
        for i in range(3):
            self.assertEqual(self.server.get(f"{self.path}/value?name=n.y&session=run{i}&limit=1")["full_shape"], [1000])


class WithoutFiles(ServerTest):
    options = ("--no-files",)

    def test_snapshots_are_files(self):
        _, path = self.open(text=page_text(block("n", "Variable", initvalues=strings("a"))), name="stranger")
        for call in ("save", "restore"):
            self.fails(403, "POST", f"{path}/state/{call}", {"path": "a.weftstate"}, code="permission_denied")
        self.assertEqual([each.name for each in self.work.iterdir()], ["xor.page.json"])


if __name__ == "__main__":
    unittest.main()
