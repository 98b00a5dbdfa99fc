"""Many requests and many listeners at once: no error; many edits in one call take time that grows as their number. (Figures are in
tools/serve/README.md; here the machine may be busy.)"""
import http.client
import json
import os
import threading
import time
import unittest

from client import PATIENCE
from kit import ServerTest, block, counter, number as scalar, page_text

REQUESTS, LISTENERS, SENDERS = 3000, 50, 4


class Load(ServerTest):
    def test_requests_and_listeners(self):
        page, path = self.open(text=counter(), name="load")
        run = self.server.post("/v1/runs", {"page": page, "steps": "until_stopped", "interval_ms": 1})
        sockets = []
        wrong, samples, done = [], [0] * LISTENERS, threading.Event()

        def listen(index):
            socket = sockets[index]
            while not done.is_set():
                try:
                    if socket.read() == 8:
                        raise ConnectionError(f"closed with {socket.close_code}")
                except OSError as error:
                    if not done.is_set():
                        wrong.append(f"listener {index}: {error}")
                    return
                samples[index] += len(socket.frames)
                socket.frames.clear()
                wrong.extend(event for event in socket.events if event["type"] in ("error", "lost"))
                socket.events.clear()

        def send(count):
            connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60 * PATIENCE)
            headers = {"Authorization": "Bearer " + self.server.token, "Content-Type": "application/json"}
            for number in range(count):
                if number % 50 == 0:
                    edit = {"edits": [{"op": "set", "block": "n", "key": "note", "value": str(number)}]}
                    connection.request("PATCH", path, json.dumps(edit), headers)
                elif number % 5 == 0:
                    connection.request("POST", path + "/values", '{"names": ["n.ref"]}', headers)
                else:
                    connection.request("GET", path + "/value?name=n.ref", None, headers)
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    wrong.append(answer.status)
            connection.close()

        # Each listens from the start: on a slow machine the first would else miss the server's pings while the last subscribe.
        for index in range(LISTENERS):
            socket = self.connect(page)
            socket.call("subscribe", topic="run", page=page, interval_ms=100)
            socket.call("subscribe", topic="value", page=page, name="up.output_ref", interval_ms=100)
            sockets.append(socket)
            threading.Thread(target=listen, args=(index,), daemon=True).start()
        senders = [threading.Thread(target=send, args=(REQUESTS // SENDERS,)) for _ in range(SENDERS)]
        start = time.time()
        for thread in senders:
            thread.start()
        for thread in senders:
            thread.join()
        seconds = time.time() - start
        self.wait_for(lambda: all(samples) or wrong, "each listener hears of a value")
        done.set()
        print(f"{REQUESTS / seconds:.0f} requests a second beside {LISTENERS} listeners")
        self.assertEqual(wrong, [])
        self.server.post(f"/v1/runs/{run['id']}/stop")
        self.finish(run, "stopped")

    def processor_seconds(self):
        """Of the server, all threads."""
        with open(f"/proc/{self.server.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def seconds_of(self, path, edits):
        before = self.processor_seconds()
        self.server.call("PATCH", path, {"edits": edits})
        self.server.post(path + "/undo")
        return self.processor_seconds() - before

    def test_many_edits(self):
        """4 times as many moves or renames in one call take no more than 4 times 2.5 times the time, and a moment; what is fed to some of the
        blocks follows them without much."""
        def seconds(count, feeds=0):
            inputs = [block(f"x{i}", "Placeholder", "dtype_ = DT_FLOAT;") for i in range(count)]
            _, path = self.open(text=page_text(*inputs), name="many")
            names = {f"x{i}.output" for i in range(count - feeds, count)}
            for name in names:
                self.server.call("PUT", f"{path}/feed?name={name}", scalar(1))
            taken = {"rename": self.seconds_of(path, [{"op": "rename", "block": f"x{i}", "to": f"z{i}"} for i in range(count)]),
                     "move": self.seconds_of(path, [{"op": "move", "block": f"x{i}", "layout": [i, 0]} for i in range(count)])}
            self.assertEqual({fed["name"] for fed in self.server.get(path + "/feeds")["feeds"]}, names)
            return taken

        once, more, fed = seconds(2000), seconds(8000), seconds(8000, feeds=256)
        for edit in once:
            with self.subTest(edit=edit):
                self.assertLessEqual(more[edit], 4 * 2.5 * once[edit] + 0.1)
                self.assertLessEqual(fed[edit], 1.5 * more[edit] + 0.1)


if __name__ == "__main__":
    unittest.main()
