"""Many requests and many listeners at once: no error. (Figures are in tools/serve/README.md; here the machine may be busy.)"""
import http.client
import json
import threading
import time
import unittest

from client import PATIENCE
from kit import ServerTest, counter

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


if __name__ == "__main__":
    unittest.main()
