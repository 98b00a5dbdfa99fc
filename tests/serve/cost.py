#!/usr/bin/env python3
"""What clients cost a run: runs per second of the processor time of the thread that runs, which other programs on the machine disturb little.
Prints a table; not a test. Usage: cost.py [PAGE]"""
import http.client
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from client import Server
from kit import PROGRAM, ROOT

WINDOW, ROUNDS = 0.4, 12


def cpu_of(pid, thread):
    with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def busiest(pid):
    """The thread that runs, pinned to one processor; the others get the other ones."""
    before = {thread: cpu_of(pid, thread) for thread in os.listdir(f"/proc/{pid}/task")}
    time.sleep(0.5)
    thread = max(before, key=lambda each: cpu_of(pid, each) - before[each])
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        for each in before:
            os.sched_setaffinity(int(each), {cores[-1]} if each == thread else set(cores[:-1]))
        os.sched_setaffinity(0, set(cores[:-1]))
    return thread


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


def load(server, page, path, ends, rate):
    connection = http.client.HTTPConnection(server.host, server.port)
    headers = {"Authorization": "Bearer " + server.token}
    next_time = time.time()
    while not ends.is_set():
        connection.request("GET", f"{path}/value?name=loss.output", None, headers)
        connection.getresponse().read()
        next_time += 1 / rate
        time.sleep(max(0, next_time - time.time()))


def with_clients(server, page, path, kind):
    """Starts what is measured; gives a function that ends it."""
    listeners, ends, threads = [], threading.Event(), []
    for _ in range({"idle": 1, "plot": 1, "load": 50}.get(kind, 0)):
        socket = server.socket()
        socket.call("subscribe", topic="page", page=page)
        if kind == "plot":
            socket.call("subscribe", topic="value", page=page, name="loss.output", interval_ms=16)
        if kind == "load":
            socket.call("subscribe", topic="value", page=page, name="loss.output", interval_ms=1000)
        listeners.append(Listener(socket))
        listeners[-1].start()
    if kind == "load":
        threads = [threading.Thread(target=load, args=(server, page, path, ends, 250), daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()

    def end():
        ends.set()
        for thread in threads:
            thread.join()
        for listener in listeners:
            listener.ends = True
            listener.socket.close()
        time.sleep(0.1)
    return end


def main():
    source = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "graphs/xor.page.json"
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "page.page.json").write_bytes(source.read_bytes())
        with Server(PROGRAM, folder, "--threads", "1", env={"XDG_STATE_HOME": folder}) as server:
            page = server.post("/v1/pages", {"path": "page.page.json"})["id"]
            path = "/v1/pages/" + page
            run = server.post("/v1/runs", {"page": page, "steps": "until_stopped"})["id"]
            pid = server.process.pid
            thread = busiest(pid)
            rates = {kind: [] for kind in ("none", "idle", "plot", "load")}
            for _ in range(ROUNDS):
                for kind, list_ in rates.items():
                    end = with_clients(server, page, path, kind)
                    time.sleep(0.1)
                    runs = lambda: server.get("/v1/runs/" + run)["sessions"][0]["runs"]
                    first, cpu = runs(), cpu_of(pid, thread)
                    time.sleep(WINDOW)
                    last, used = runs(), cpu_of(pid, thread) - cpu
                    end()
                    list_.append((last - first) / used)
            base = statistics.median(rates["none"])
            for kind, list_ in rates.items():
                print(f"{kind}: {statistics.median(list_):.0f} runs a second of processor time, {(1 - statistics.median(list_) / base) * 100:.2f} % fewer")


if __name__ == "__main__":
    main()
