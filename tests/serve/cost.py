#!/usr/bin/env python3
"""What clients cost a run: the thread that runs has a processor of its own, the server's other threads and the clients have the others.

In each round every kind of client is measured once, in random order, and compared with the window of the same round without clients. Prints
a table: the median of these differences, with the interval in which it lies at 95 %, of runs per second of time and of runs per second of
processor time of the thread (which other programs on that processor disturb less). Not a test. Needs two processors and a quiet machine.
Usage: cost.py [--rounds N] [--window SECONDS] [PAGE]"""
import argparse
import http.client
import math
import os
import pathlib
import random
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from client import Server
from kit import PROGRAM, ROOT

KINDS = {"none": "no client", "idle": "a client that only listens", "plot": "a plot of 60 points a second", "load": "1,000 requests a second, 50 listeners"}
SENDERS, REQUESTS_A_SECOND = 4, 1000


def cpu_of(pid, thread):
    with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def pin_busiest(pid):
    """The thread that runs gets the last processor for itself; the other threads, and this program, get the others."""
    before = {thread: cpu_of(pid, thread) for thread in os.listdir(f"/proc/{pid}/task")}
    time.sleep(0.5)
    busiest = max(before, key=lambda each: cpu_of(pid, each) - before[each])
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("cost.py: needs two processors")
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), {cores[-1]} if thread == busiest else set(cores[:-1]))
    os.sched_setaffinity(0, set(cores[:-1]))
    return busiest


class Listener(threading.Thread):
    def __init__(self, socket):
        super().__init__(daemon=True)
        self.socket, self.ends = socket, False

    def run(self):
        try:
            while not self.ends and self.socket.read() != 8:
                self.socket.events.clear()
                self.socket.frames.clear()
        except OSError:
            pass


class Clients:
    """The clients of a kind, from now until end()."""

    def __init__(self, server, page, path, kind):
        self.ends, self.sent, self.listeners, self.senders = threading.Event(), 0, [], []
        for _ in range({"idle": 1, "plot": 1, "load": 50}.get(kind, 0)):
            socket = server.socket()
            socket.call("subscribe", topic="page", page=page)
            if kind != "idle":
                socket.call("subscribe", topic="value", page=page, name="loss.output", interval_ms=16 if kind == "plot" else 1000)
            self.listeners.append(Listener(socket))
        if kind == "load":
            self.senders = [threading.Thread(target=self._send, args=(server, path), daemon=True) for _ in range(SENDERS)]
        for thread in self.listeners + self.senders:
            thread.start()

    def _send(self, server, path):
        connection = http.client.HTTPConnection(server.host, server.port)
        headers = {"Authorization": "Bearer " + server.token}
        next_time = time.monotonic()
        while not self.ends.is_set():
            connection.request("GET", f"{path}/value?name=loss.output", None, headers)
            connection.getresponse().read()
            self.sent += 1
            next_time += SENDERS / REQUESTS_A_SECOND
            time.sleep(max(0, next_time - time.monotonic()))

    def end(self):
        self.ends.set()
        for thread in self.senders:
            thread.join()
        for listener in self.listeners:
            listener.ends = True
            listener.socket.close()


def measure(server, thread, run, window):
    """Runs per second of time, and of the thread's processor time."""
    def now():
        start = time.monotonic()
        runs = server.get("/v1/runs/" + run)["sessions"][0]["runs"]
        # The count was taken somewhere between asking and the answer.
        return runs, (start + time.monotonic()) / 2, cpu_of(server.process.pid, thread)

    first = now()
    time.sleep(window)
    last = now()
    runs = last[0] - first[0]
    return runs / (last[1] - first[1]), runs / (last[2] - first[2])


def median_with_interval(values):
    """The median, and the order statistics around it that enclose that of all such values with 95 %."""
    values = sorted(values)
    reach = 0.98 * math.sqrt(len(values))
    low, high = math.floor((len(values) - 1) / 2 - reach), math.ceil((len(values) - 1) / 2 + reach)
    return statistics.median(values), values[max(0, low)], values[min(len(values) - 1, high)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", nargs="?", default=str(ROOT / "graphs/xor.page.json"))
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--window", type=float, default=0.25)
    given = parser.parse_args()
    rates, asked = {kind: [] for kind in KINDS}, []
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "page.page.json").write_bytes(pathlib.Path(given.page).read_bytes())
        with Server(PROGRAM, folder, "--threads", "1", env={"XDG_STATE_HOME": folder}) as server:
            page = server.post("/v1/pages", {"path": "page.page.json"})["id"]
            run = server.post("/v1/runs", {"page": page, "steps": "until_stopped"})["id"]
            thread = pin_busiest(server.process.pid)
            for _ in range(given.rounds):
                for kind in random.sample(list(KINDS), len(KINDS)):
                    clients = Clients(server, page, "/v1/pages/" + page, kind)
                    time.sleep(0.1)
                    sent, start = clients.sent, time.monotonic()
                    rates[kind].append(measure(server, thread, run, given.window))
                    if kind == "load":
                        asked.append((clients.sent - sent) / (time.monotonic() - start))
                    clients.end()
                    time.sleep(0.05)
    print(f"{given.rounds} rounds of {given.window} s; without clients {statistics.median(rate[0] for rate in rates['none']):.0f} runs a second; "
          f"load: {statistics.median(asked):.0f} requests a second")
    print("slower by, in %; in brackets where the median lies")
    for kind, title in list(KINDS.items())[1:]:
        texts = []
        for by, what in ((0, "of time"), (1, "of processor time")):
            slower = [100 * (1 - with_[by] / without[by]) for with_, without in zip(rates[kind], rates["none"])]
            middle, low, high = median_with_interval(slower)
            texts.append(f"{middle:6.2f} ({low:.2f} to {high:.2f}) {what}")
        print(f"{title:40s} {'   '.join(texts)}")


if __name__ == "__main__":
    main()
