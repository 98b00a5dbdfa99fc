"""A client of `weft serve` for tests, of the standard library alone: HTTP calls, and a WebSocket."""
import base64
import http.client
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time

# How many times longer than usual tests wait: for programs with sanitizers.
PATIENCE = float(os.environ.get("WEFT_PATIENCE", "1"))


class Failed(Exception):
    """An answer of 400 or more."""

    def __init__(self, status, body, headers):
        super().__init__(f"{status}: {body}")
        self.status, self.body, self.headers = status, body, headers

    @property
    def code(self):
        return self.body["error"]["code"] if isinstance(self.body, dict) else None


class Server:
    """The program, on a free port."""

    def __init__(self, program, folder, *options, env=None, command="serve"):
        environment = dict(os.environ, **(env or {}))
        environment.pop("DISPLAY", None)
        environment.pop("BROWSER", None)
        self.process = subprocess.Popen([program, command, folder, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        self.address = self.process.stdout.readline().strip()
        match = re.match(r"https?://(\[[^]]*\]|[^:/]+):(\d+)/#token=([0-9a-f]{32})", self.address)
        if not match:
            self.process.kill()
            raise RuntimeError("no address: " + self.address + self.process.stderr.read())
        self.host, self.port, self.token = match.group(1).strip("[]"), int(match.group(2)), match.group(3)
        self.errors = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stderr:
            self.errors.append(line)

    def alive(self):
        return self.process.poll() is None

    def stop(self, number=signal.SIGINT):
        """Ends it; gives the exit status."""
        if self.alive():
            self.process.send_signal(number)
        try:
            return self.process.wait(20 * PATIENCE)
        finally:
            if self.alive():
                self.process.kill()
                self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def call(self, method, path, body=None, headers=None, raw=False, token=True, timeout=60):
        """The answer's JSON (raw: status, headers and bytes). Raises Failed."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout * PATIENCE)
        try:
            sent = {"Authorization": "Bearer " + self.token} if token else {}
            data = None
            if body is not None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                sent["Content-Type"] = "application/json"
            elif method in ("POST", "PATCH"):
                data, sent["Content-Type"] = b"{}", "application/json"
            sent.update(headers or {})
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            content = answer.read()
            if raw:
                return answer.status, dict(answer.getheaders()), content
            is_json = answer.getheader("Content-Type", "").startswith("application/json")
            parsed = json.loads(content) if is_json and content else content
            if answer.status >= 400:
                raise Failed(answer.status, parsed, dict(answer.getheaders()))
            return parsed
        finally:
            connection.close()

    def get(self, path, **options):
        return self.call("GET", path, **options)

    def post(self, path, body=None, **options):
        return self.call("POST", path, {} if body is None else body, **options)

    def socket(self, **options):
        return WebSocket(self, **options)

    def wait_for_run(self, run, state="ended", seconds=20):
        end = time.time() + seconds * PATIENCE
        while time.time() < end:
            now = self.get("/v1/runs/" + run)
            if now["state"] == state:
                return now
            time.sleep(0.01)
        raise AssertionError(f"the run is not {state}: {now}")


class WebSocket:
    """A WebSocket after its hello."""

    def __init__(self, server, hello=True, token=None, headers=None, resume=None, receive_buffer=None):
        self.socket = socket.socket(socket.AF_INET6 if ":" in server.host else socket.AF_INET)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(20 * PATIENCE)
        self.socket.connect((server.host, server.port))
        lines = {"Host": f"{server.host}:{server.port}", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                 "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
                 "Sec-WebSocket-Protocol": "weft.v1, weft.token." + (server.token if token is None else token)}
        lines.update(headers or {})
        request = "GET /v1/ws HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None) + "\r\n"
        self.socket.sendall(request.encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            part = self.socket.recv(4096)
            if not part:
                raise ConnectionError("closed")
            self.buffer += part
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.head = head.decode()
        self.status = int(self.head.split()[1])
        self.events, self.frames, self.close_code, self.next_id, self.client = [], [], None, 1, None
        if self.status == 101 and hello:
            self.send({"op": "hello", "protocol": 1, "name": "test", **({"resume": resume} if resume else {})})
            self.hello = self.wait("hello")
            self.client = self.hello["client"]

    def send(self, message):
        self.send_frame(1, json.dumps(message).encode())

    def send_frame(self, opcode, data, final=True, masked=True):
        mask = os.urandom(4)
        head = bytes([(0x80 if final else 0) | opcode])
        flag = 0x80 if masked else 0
        if len(data) < 126:
            head += bytes([flag | len(data)])
        elif len(data) < 65536:
            head += bytes([flag | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([flag | 127]) + struct.pack(">Q", len(data))
        if masked:
            repeated = (mask * (len(data) // 4 + 1))[:len(data)]
            data = (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(len(data), "big") if data else b""
            head += mask
        self.socket.sendall(head + data)

    def _take(self, count):
        while len(self.buffer) < count:
            part = self.socket.recv(65536)
            if not part:
                raise ConnectionError("closed")
            self.buffer += part
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def read(self):
        """Reads one message: keeps it in `events` or `frames`; gives its opcode."""
        first, second = self._take(2)
        size = second & 127
        if size == 126:
            size = struct.unpack(">H", self._take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self._take(8))[0]
        data = self._take(size)
        opcode = first & 15
        if opcode == 1:
            self.events.append(json.loads(data))
        elif opcode == 2:
            self.frames.append(parse_frame(data))
        elif opcode == 8:
            self.close_code = struct.unpack(">H", data[:2])[0] if len(data) >= 2 else 1005
        elif opcode == 9:
            self.send_frame(10, data)
        return opcode

    def wait(self, type_, seconds=20, **fields):
        """The next event of a type, taken from what has come."""
        end = time.time() + seconds * PATIENCE
        while True:
            for index, event in enumerate(self.events):
                if event["type"] == type_ and all(event.get(name) == value for name, value in fields.items()):
                    return self.events.pop(index)
            if time.time() > end:
                raise AssertionError(f"no {type_} came: {[e['type'] for e in self.events]}")
            if self.buffer or select.select([self.socket], [], [], max(0.0, end - time.time()))[0]:
                if self.read() == 8:
                    raise ConnectionError(f"closed with {self.close_code}")

    def wait_frame(self, seconds=20):
        end = time.time() + seconds * PATIENCE
        while not self.frames:
            if time.time() > end:
                raise AssertionError("no frame came")
            if self.buffer or select.select([self.socket], [], [], max(0.0, end - time.time()))[0]:
                self.read()
        return self.frames.pop(0)

    def wait_close(self, seconds=20):
        """The code that the server closes with; None where it just ends."""
        self.socket.settimeout(seconds * PATIENCE)
        try:
            while self.read() != 8:
                pass
        except (ConnectionError, OSError):
            pass
        return self.close_code

    def call(self, op, **fields):
        number, self.next_id = self.next_id, self.next_id + 1
        self.send({"op": op, "id": number, **fields})
        end = time.time() + 20 * PATIENCE
        while time.time() < end:
            for index, event in enumerate(self.events):
                if event.get("id") == number and event["type"] in ("ok", "error"):
                    return self.events.pop(index)
            self.read()
        raise AssertionError("no answer")

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


SIZES = {"DT_FLOAT": "f", "DT_DOUBLE": "d", "DT_INT32": "i", "DT_INT64": "q", "DT_BOOL": "?", "DT_UINT8": "B"}


def parse_frame(data):
    """The header, with the elements of each tensor under "data"."""
    length = struct.unpack("<I", data[:4])[0]
    assert (4 + length) % 8 == 0
    header = json.loads(data[4:4 + length])
    for tensor in header["tensors"]:
        part = data[tensor["offset"]:tensor["offset"] + tensor["bytes"]]
        kind = SIZES[tensor["dtype"]]
        tensor["data"] = list(struct.unpack(f"<{len(part) // struct.calcsize(kind)}{kind}", part))
    return header
