"""What strangers, broken clients and greedy pages do: nothing ends the process, nothing changes, others go on."""
import http.client
import json
import os
import random
import signal
import socket as sockets
import ssl
import struct
import subprocess
import threading
import time
import unittest

from client import PATIENCE, Server, WebSocket
from kit import PROGRAM, ROOT, ServerTest, block, counter, number, page_text


def raw(server, data, seconds=5):
    """The bytes that come back until the server closes or nothing comes any more."""
    connection = sockets.create_connection((server.host, server.port), timeout=seconds * PATIENCE)
    try:
        connection.sendall(data)
        answer = b""
        while True:
            part = connection.recv(65536)
            if not part:
                return answer
            answer += part
    except OSError:
        return answer
    finally:
        connection.close()


class Strangers(ServerTest):
    def head(self, method, path, **headers):
        lines = {"Host": f"127.0.0.1:{self.server.port}", "Connection": "close", **{name.replace("_", "-"): value for name, value in headers.items()}}
        return (f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None) + "\r\n").encode()

    def status(self, *arguments, body=b"", **headers):
        answer = raw(self.server, self.head(*arguments, **headers) + body)
        return int(answer.split()[1]) if answer else None

    def bearer(self):
        return "Bearer " + self.server.token

    def test_token(self):
        for given in (None, "", "Bearer", "Bearer ", "Bearer " + "0" * 32, "bearer " + self.server.token, self.server.token, "Basic " + self.server.token,
                      "Bearer " + self.server.token + "0", "Bearer " + self.server.token[:-1]):
            for path in ("/v1/info", "/v1/pages", "/v1/nothing", "/v1/openapi.json", "/v1"):
                self.assertEqual(self.status("GET", path, Authorization=given), 401, (given, path))
        self.assertEqual(self.status("GET", "/v1/info", Authorization=self.bearer()), 200)
        self.assertEqual(self.status("GET", "/v1/info?token=" + self.server.token), 401)
        self.assertNotIn(self.server.token, "".join(self.server.errors))

    def test_foreign_hosts_and_origins(self):
        port = self.server.port
        for host in (f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}", "", f"localhost.:{port}"):
            self.assertEqual(self.status("GET", "/v1/info", Authorization=self.bearer(), Host=host), 421, host)
            self.assertEqual(self.status("GET", "/", Host=host), 421, host)
        self.assertEqual(self.status("GET", "/v1/info", Authorization=self.bearer(), Host=f"LocalHost:{port}"), 200)
        for origin in ("null", "http://evil.example", f"https://127.0.0.1:{port}", "http://127.0.0.1", f"http://127.0.0.1:{port}.evil.example", "file://", ""):
            self.assertEqual(self.status("GET", "/v1/info", Authorization=self.bearer(), Origin=origin), 403, origin)
            self.assertEqual(self.status("GET", "/", Origin=origin), 403, origin)
        self.assertEqual(self.status("GET", "/v1/info", Authorization=self.bearer(), Origin=f"http://localhost:{port}"), 200)
        answer = raw(self.server, self.head("OPTIONS", "/v1/pages", Origin=f"http://127.0.0.1:{port}", Access_Control_Request_Method="POST"))
        self.assertNotIn(b"Access-Control", answer)
        twice = self.head("GET", "/v1/info", Authorization=self.bearer()).replace(b"Connection", b"Host: evil.example\r\nConnection")
        self.assertEqual(raw(self.server, twice).split()[1], b"400")

    def test_sockets(self):
        port = self.server.port
        self.assertEqual(WebSocket(self.server, token="0" * 32).status, 401)
        self.assertEqual(WebSocket(self.server, headers={"Sec-WebSocket-Protocol": None}).status, 401)
        self.assertEqual(WebSocket(self.server, headers={"Sec-WebSocket-Protocol": "weft.token." + self.server.token}).status, 400)
        self.assertEqual(WebSocket(self.server, headers={"Origin": "null"}).status, 403)
        self.assertEqual(WebSocket(self.server, headers={"Origin": "http://evil.example"}).status, 403)
        self.assertEqual(WebSocket(self.server, headers={"Host": f"evil.example:{port}"}).status, 421)
        with self.server.socket(headers={"Origin": f"http://127.0.0.1:{port}"}) as good:
            self.assertEqual(good.status, 101)
            self.assertNotIn(self.server.token, good.head)

    def test_bodies(self):
        _, path = self.open()
        before = self.server.call("GET", path + "/text", raw=True)[2]
        edit = json.dumps({"edits": [{"op": "remove", "block": "loss"}]}).encode()
        for kind in (None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            self.assertEqual(self.status("PATCH", path, Authorization=self.bearer(), Content_Type=kind, Content_Length=len(edit), body=edit), 415, kind)
        common = {"Authorization": self.bearer(), "Content_Type": "application/json"}
        self.assertEqual(self.status("PATCH", path, Content_Length=1 << 40, **common), 413)
        self.assertEqual(self.status("POST", path + "/undo", Content_Length=(1 << 20) + 1, **common), 413)
        chunked = b"".join(b"10000\r\n" + b" " * 65536 + b"\r\n" for _ in range(20))
        self.assertEqual(self.status("POST", path + "/undo", Transfer_Encoding="chunked", body=chunked, **common), 413)
        for body in (b"{", b"[]", b"nul", b"\xff\xfe", b'{"edits": ' + b"[" * 100000 + b"]" * 100000 + b"}", b'{"edits": [1]}', b'{"edits": [{"op": 1}]}',
                     b'{"edits": [{"op": "add"}]}', b'{"edits": [{"op": "add", "block": {"id": "\\u0000"}}]}', b'{"label": "\\u0000", "edits": []}'):
            self.assertIn(self.status("PATCH", path, Content_Length=len(body), body=body, **common), (400, 422), body[:40])
        for method, target in (("GET", path + "/undo"), ("GET", "/v1/runs/p1r1/cancel"), ("PUT", path), ("TRACE", "/"), ("POST", "/"), ("BREW", path)):
            self.assertIn(self.status(method, target, Authorization=self.bearer()), (400, 404, 405), (method, target))
        self.assertEqual(self.server.call("GET", path + "/text", raw=True)[2], before)

    def test_malformed_requests(self):
        dice = random.Random(1)
        for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/1.1\r\nHost: " + b"a" * 100000 + b"\r\n\r\n",
                     b"GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"POST /v1/pages HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"POST /v1/pages HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n"):
            self.assertNotIn(b"HTTP/1.1 200", raw(self.server, data, 1)[:20])
        for _ in range(50):
            raw(self.server, dice.randbytes(dice.randrange(1, 400)), 0.2)
        self.server.get("/v1/info")

    def test_paths(self):
        secret = self.folder / "secret.page.json"
        secret.write_text(counter())
        (self.work / "sub").mkdir()
        os.symlink(secret, self.work / "link.page.json")
        os.symlink(self.folder, self.work / "outside")
        os.symlink("/dev/zero", self.work / "zero.page.json")
        os.mkfifo(self.work / "pipe.page.json")
        for name in ("../secret.page.json", "sub/../../secret.page.json", str(secret), "link.page.json", "outside/secret.page.json", "/etc/passwd", "..", ".", "",
                     "sub", "zero.page.json", "pipe.page.json", "..\\secret.page.json", "sub/.hidden", "a\u0000b", "a\nb", "x" * 5000, "%2e%2e/secret.page.json",
                     "nothing.page.json"):
            start = time.time()
            with self.subTest(name=name[:40]):
                status, _, body = self.server.call("POST", "/v1/pages", {"path": name}, raw=True)
                self.assertIn(status, (400, 403, 404), body)
                self.assertLess(time.time() - start, 5 * PATIENCE)
        for name in ("..%2fsecret.page.json", "%2e%2e/secret.page.json", "link.page.json", "outside%2fsecret.page.json", "pipe.page.json", "%00"):
            status, _, body = self.server.call("GET", "/v1/file?path=" + name, raw=True)
            self.assertIn(status, (400, 403, 404), (name, body))
            status, _, body = self.server.call("PUT", "/v1/file?overwrite=1&path=" + name, b"x", raw=True, headers={"Content-Type": "application/octet-stream"})
            self.assertIn(status, (400, 403, 404), (name, body))
        _, path = self.open()
        for name in ("../out.page.json", "/tmp/weft-out.page.json", "outside/out.page.json", "link.page.json", "sub"):
            status, _, body = self.server.call("POST", path + "/save", {"path": name, "overwrite": True}, raw=True)
            self.assertIn(status, (400, 403, 404, 409), (name, body))
        self.assertEqual(secret.read_text(), counter())
        for target in ("/../serve.cc", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/assets/../../x", "/.git/config"):
            self.assertEqual(self.status("GET", target), 404, target)
        listed = [each["path"] for each in self.server.get("/v1/files")["files"]]
        self.assertEqual(listed, ["xor.page.json"])

    def test_pages_may_not_leave_the_folder(self):
        (self.folder / "secret.txt").write_text("secret")
        text = page_text(block("name", "Const", value={"dtype": "DT_STRING", "shape": [], "values": ["../secret.txt"]}), block("read", "ReadFile", filename="name.output"),
                         block("run", "ClientSession", fetch_outputs=["read.contents"]))
        (self.work / "reader.page.json").write_text(text)
        page, _ = self.open(path="reader.page.json")
        error = self.finish(self.server.post("/v1/runs", {"page": page}), "failed")["error"]
        self.assertEqual((error["code"], error["block"]), ("permission_denied", "read"))

    def test_answers_protect_the_editor(self):
        for target in ("/", "/nothing.js"):
            answer = raw(self.server, self.head("GET", target)).decode()
            for wanted in ("Content-Security-Policy: default-src 'none'", "frame-ancestors 'none'", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"):
                self.assertIn(wanted, answer)
            self.assertNotIn("unsafe-eval", answer)
        self.assertIn("no-store", raw(self.server, self.head("GET", "/v1/info", Authorization=self.bearer())).decode())


class Modes(ServerTest):
    options = ("--read-only",)

    def test_read_only(self):
        before = sorted(os.listdir(self.work))
        page, path = self.open()
        self.server.get(path + "/view")
        for method, target, body in (("PATCH", path, {"edits": []}), ("POST", path + "/save", {}), ("POST", "/v1/runs", {"page": page}), ("POST", path + "/undo", {}),
                                     ("PUT", path + "/variable?name=w1", number(1)), ("POST", path + "/state/save", {"path": "a.weftstate"}),
                                     ("POST", path + "/mode", {"mode": "RUN"})):
            self.fails(403, method, target, body, code="permission_denied")
        self.assertEqual(sorted(os.listdir(self.work)), before)

    def test_no_files(self):
        other = self.start("--no-files")
        text = page_text(block("name", "Const", value={"dtype": "DT_STRING", "shape": [], "values": ["xor.page.json"]}), block("read", "ReadFile", filename="name.output"),
                         block("stop", "Abort"), block("lit", "Const", value={"dtype": "DT_FLOAT", "shape": [1], "file": "xor.page.json"}),
                         block("run", "ClientSession", fetch_outputs=["read.contents", "lit.output"], run_outputs=["stop.operation"]))
        page = other.post("/v1/pages", {"text": text, "name": "stranger"})
        found = {each.get("block"): each["code"] for each in other.get(f"/v1/pages/{page['id']}/diagnostics")["diagnostics"]}
        self.assertEqual((found.get("read"), found.get("stop"), found.get("lit")), ("permission_denied", "permission_denied", "failed_precondition"))
        status, _, _ = other.call("POST", "/v1/runs", {"page": page["id"]}, raw=True)
        self.assertEqual(status, 422)
        status, _, _ = other.call("PUT", "/v1/file?path=a.npy", b"x", raw=True, headers={"Content-Type": "application/octet-stream"})
        self.assertEqual(status, 403)

    def test_no_files_refuses_blocks_that_no_session_runs(self):
        other = self.start("--no-files")
        text = page_text(block("read", "ReadFile", filename={"dtype": "DT_STRING", "shape": [], "values": ["xor.page.json"]}),
                         block("c", "Const", value=number(1)), block("run", "ClientSession", fetch_outputs=["c.output"]))
        page = other.post("/v1/pages", {"text": text, "name": "stranger"})
        path = f"/v1/pages/{page['id']}"

        def refused():
            return sorted(each["block"] for each in other.get(path + "/diagnostics")["diagnostics"] if each["code"] == "permission_denied")

        self.assertEqual((page["errors"], refused()), (1, ["read"]))
        change = other.call("PATCH", path, {"edits": [{"op": "add", "block": block("stop", "Abort")}]})
        self.assertEqual((change["checked"]["errors"], refused()), (2, ["read", "stop"]))
        _, _, answer = other.call("PATCH", path, {"edits": [{"op": "add", "block": block("more", "Abort")}], "mode": "strict"}, raw=True)
        self.assertEqual(json.loads(answer)["error"]["code"], "permission_denied")
        run = other.post("/v1/runs", {"page": page["id"]})
        self.assertEqual(other.wait_for_run(run["id"])["outcome"], "ok")


class BrokenClients(ServerTest):
    def test_frames(self):
        dice = random.Random(2)
        cases = [(lambda s: s.send_frame(1, b"no json"), 1007), (lambda s: s.send_frame(1, b"[1]"), 1007), (lambda s: s.send_frame(2, b"binary"), 1003),
                 (lambda s: s.send_frame(1, b"x" * ((1 << 20) + 1)), 1009), (lambda s: s.send_frame(1, b"{}", masked=False), 1002),
                 (lambda s: s.send_frame(3, b"{}"), 1002), (lambda s: s.send_frame(9, b"x" * 126), 1002), (lambda s: s.send_frame(1, b"\xff\xff"), 1007),
                 (lambda s: s.send_frame(0, b"alone"), 1002)]
        for send, code in cases:
            socket = self.server.socket()
            try:
                send(socket)
            except OSError:
                pass
            self.assertIn(socket.wait_close(), (code, None))
            socket.close()
        for _ in range(30):
            socket = self.server.socket(hello=False)
            socket.socket.sendall(dice.randbytes(dice.randrange(2, 300)))
            socket.close()
        self.server.get("/v1/info")

    def test_hello_is_needed(self):
        socket = self.server.socket(hello=False)
        socket.send({"op": "ping"})
        self.assertEqual(socket.wait_close(), 4001)
        socket = self.server.socket(hello=False)
        socket.send({"op": "hello", "protocol": 2})
        self.assertEqual(socket.wait_close(), 4002)
        socket = self.server.socket(hello=False)
        self.assertEqual(socket.wait_close(10), 4001)

    def test_calls_by_socket_are_checked(self):
        page, _ = self.open()
        with self.server.socket() as socket:
            for call in ({"op": "fly"}, {"op": "subscribe"}, {"op": "subscribe", "topic": "page", "page": "p9"}, {"op": "subscribe", "topic": "x", "page": page},
                         {"op": "subscribe", "topic": "value", "page": page, "name": "loss.output", "reduction": "sum"},
                         {"op": "subscribe", "topic": "value", "page": page, "name": "loss.output", "interval_ms": "fast"},
                         {"op": "subscribe", "topic": "page", "page": page, "from_seq": -1}, {"op": "unsubscribe", "sub": 99}, {"op": 7}, {"op": "hello", "protocol": 1}):
                answer = socket.call(**{"op": call.pop("op"), **call})
                self.assertEqual(answer["type"], "error", call)
            self.assertEqual(socket.call("ping")["type"], "ok")
            for _ in range(260):
                answer = socket.call("subscribe", topic="value", page=page, name="loss.output")
                if answer["type"] == "error":
                    break
                time.sleep(0.004)
            self.assertEqual(answer["error"]["code"], "resource_exhausted")

    def test_too_many_calls(self):
        with self.server.socket() as socket:
            try:
                for number_ in range(5000):
                    socket.send({"op": "ping", "id": number_})
            except OSError:
                pass
            self.assertIn(socket.wait_close(), (4029, None))

    def test_slow_reader_is_cut_and_others_go_on(self):
        page, path = self.open()
        slow = self.server.socket(receive_buffer=4096)
        slow.call("subscribe", topic="page", page=page)
        fast = self.server.socket()
        fast.call("subscribe", topic="page", page=page)
        note = "x" * 900000
        for step in range(14):
            self.server.call("PATCH", path, {"edits": [{"op": "set", "block": "x", "key": "note", "value": note + str(step)}]})
            fast.wait("page.changed")
        self.assertIn(slow.wait_close(), (4008, None))
        self.assertEqual(fast.call("ping")["type"], "ok")
        slow.close()
        fast.close()

    def test_slow_requests(self):
        begun = []
        for _ in range(20):
            connection = sockets.create_connection((self.server.host, self.server.port))
            connection.sendall(b"GET /v1/info HTTP/1.1\r\nHost: ")
            begun.append(connection)
        slow = sockets.create_connection((self.server.host, self.server.port))
        slow.sendall((f"POST /v1/pages HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\nAuthorization: Bearer {self.server.token}\r\n"
                      "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{").encode())
        self.server.get("/v1/info")
        start = time.time()
        begun[0].settimeout(20 * PATIENCE)
        self.assertEqual(begun[0].recv(10), b"")
        self.assertLess(time.time() - start, 15 * PATIENCE)
        for connection in [*begun, slow]:
            connection.close()

    def test_clients_that_end_at_any_moment(self):
        page, path = self.open()
        run = self.server.post("/v1/runs", {"page": page, "steps": "until_stopped", "interval_ms": 1})
        dice = random.Random(4)

        def come_and_go():
            mine = random.Random(dice.random())
            for _ in range(12):
                try:
                    socket = self.server.socket(hello=mine.random() < 0.9)
                    for _ in range(mine.randrange(4)):
                        socket.send(mine.choice([{"op": "subscribe", "topic": "page", "page": page}, {"op": "subscribe", "topic": "run", "page": page, "blocks": True, "timings": True},
                                                 {"op": "subscribe", "topic": "value", "page": page, "name": "w1.ref", "interval_ms": 0},
                                                 {"op": "subscribe", "topic": "summaries", "page": page, "names": ["loss.output"], "interval_ms": 16}]))
                    time.sleep(mine.random() * 0.05)
                    if mine.random() < 0.5:
                        socket.socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    socket.close()
                except OSError:
                    pass

        threads = [threading.Thread(target=come_and_go) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.server.get("/v1/runs/" + run["id"])["state"], "running")
        self.server.post(f"/v1/runs/{run['id']}/stop")
        self.finish(run, "stopped")

    def test_connections_that_are_reset_while_both_sides_send(self):
        page, _ = self.open(text=counter(), name="counter")
        self.server.post("/v1/runs", {"page": page, "steps": "until_stopped"})
        for _ in range(60):
            socket = self.server.socket()
            for _ in range(3):
                socket.send({"op": "subscribe", "topic": "value", "page": page, "name": "up.output_ref", "reduction": "each", "interval_ms": 0})
            time.sleep(0.02)
            try:
                for number_ in range(40):
                    socket.send({"op": "ping", "id": number_})
            except OSError:
                pass
            socket.socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            socket.close()
        self.assertTrue(self.server.alive())

    def test_many_connections(self):
        kept = [sockets.create_connection((self.server.host, self.server.port)) for _ in range(300)]
        time.sleep(0.2)
        for connection in kept:
            connection.close()
        time.sleep(0.3)
        self.server.get("/v1/info")

    def test_many_clients(self):
        for _ in range(80):
            self.server.socket().close()
        clients = [self.server.socket() for _ in range(64)]
        socket = self.server.socket(hello=False)
        socket.send({"op": "hello", "protocol": 1})
        self.assertEqual(socket.wait_close(), 4029)
        for client in clients:
            client.close()

    def test_many_pages(self):
        status = 201
        for _ in range(70):
            status, _, _ = self.server.call("POST", "/v1/pages", {"template": "empty"}, raw=True)
            if status != 201:
                break
        self.assertEqual(status, 429)


class GreedyPages(ServerTest):
    options = ("--page-memory", "200M", "--memory", "1G")

    def test_100_gb(self):
        text = page_text(block("big", "Fill", dims={"dtype": "DT_INT32", "shape": [2], "values": [200000, 200000]}, value=number(1)), block("more", "Tanh", x="big.output"),
                         block("run", "ClientSession", fetch_outputs=["more.y"]))
        page, path = self.open(text=text, name="greedy")
        status, _, body = self.server.call("POST", "/v1/runs", {"page": page}, raw=True)
        if status == 201:
            self.assertEqual(self.finish(json.loads(body), "failed")["error"]["code"], "resource_exhausted")
        else:
            self.assertIn(status, (422, 507), body)
        self.finish(self.server.post("/v1/runs", {"page": self.open()[0]}))

    def test_feeds_count(self):
        """What is fed counts for the server and for the session: of 200 MiB, twice 48 MB and twice 48 MB, and no third."""
        inputs = [block(f"x{i}", "Placeholder", "dtype_ = DT_FLOAT;") for i in range(3)]
        page, path = self.open(text=page_text(*inputs, block("run", "ClientSession", fetch_outputs=[f"x{i}.output" for i in range(3)])), name="fed")
        count = 12_000_000
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}".ljust(117) + "\n"
        value = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * count)

        def feed(i):
            return {"method": "PUT", "path": f"{path}/feed?name=x{i}.output", "body": value, "headers": {"Content-Type": "application/x-npy"}}

        self.server.call(**feed(0))
        self.server.call(**feed(0))  # in place of itself
        self.server.call(**feed(1))
        error = self.fails(507, **feed(2), code="resource_exhausted")["error"]
        self.assertRegex(error["message"], r"^needs 48\d{6} bytes of memory; 19\d{7} of the limit of 209715200 are in use$")
        self.assertEqual([fed["name"] for fed in self.server.get(path + "/feeds")["feeds"]], ["x0.output", "x1.output"])
        self.server.call("DELETE", path + "/feed?name=x0.output")
        self.server.call(**feed(2))

    def test_pages_that_run_for_ever(self):
        page, _ = self.open(text=counter(), name="for ever")
        run = self.server.post("/v1/runs", {"page": page, "steps": "until_stopped"})
        with self.server.socket() as socket:
            sub = socket.call("subscribe", topic="value", page=page, name="up.output_ref", reduction="each", interval_ms=0)["sub"]
            self.assertEqual(socket.wait_frame()["sub"], sub)
            other, _ = self.open()
            self.finish(self.server.post("/v1/runs", {"page": other, "steps": 10}))
        limited = self.server.post("/v1/runs", {"page": self.open(text=counter(), name="limited")[0], "steps": "until_stopped", "deadline_ms": 200})
        self.finish(limited, "cancelled")
        self.server.call("DELETE", "/v1/runs/" + run["id"])
        self.finish(run, "cancelled")

    def test_a_page_that_runs_does_not_hinder_the_end(self):
        page, _ = self.open(text=counter(), name="for ever")
        self.server.post("/v1/runs", {"page": page, "steps": "until_stopped"})
        start = time.time()
        self.assertEqual(self.server.stop(), 130)
        self.assertLess(time.time() - start, 5 * PATIENCE)
        self.server = self.start()


class Encrypted(ServerTest):
    def test_tls(self):
        cert, key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(cert), "-days", "2", "-subj", "/CN=localhost"],
                       check=True, capture_output=True)
        server = self.start("--cert", str(cert), "--key", str(key))
        self.assertTrue(server.address.startswith("https://127.0.0.1:"))
        context = ssl.create_default_context(cafile=str(cert))
        context.check_hostname = False

        def status(**headers):
            connection = http.client.HTTPSConnection(server.host, server.port, context=context, timeout=20 * PATIENCE)
            connection.request("GET", "/v1/info", None, {"Authorization": "Bearer " + server.token, **headers})
            return connection.getresponse().status

        self.assertEqual(status(), 200)
        self.assertEqual(status(Origin=f"https://localhost:{server.port}"), 200)
        self.assertEqual(status(Origin=f"http://localhost:{server.port}"), 403)
        self.assertNotIn(b"200", raw(server, b"GET / HTTP/1.1\r\n\r\n", 2)[:20])
        self.assertEqual(status(), 200)

    def test_wrong_options(self):
        for options in (["--cert", "x"], ["--cert", "/nope", "--key", "/nope"], ["--listen", "nowhere"], ["--port", "70000"]):
            done = subprocess.run([PROGRAM, "serve", str(self.work), *options], capture_output=True, text=True, timeout=20 * PATIENCE)
            self.assertIn(done.returncode, (1, 2), options)
            self.assertIn("error", done.stderr)
        done = subprocess.run([PROGRAM, "serve", str(self.work / "xor.page.json")], capture_output=True, text=True, timeout=20 * PATIENCE)
        self.assertIn("weft edit opens a page", done.stderr)


class Ends(ServerTest):
    command = "edit"
    options = ("--no-browser",)

    def test_interrupt_and_termination(self):
        self.assertEqual(self.server.stop(signal.SIGINT), 130)
        self.server = self.start()
        with self.server.socket() as socket:
            self.server.process.send_signal(signal.SIGTERM)
            self.assertEqual(socket.wait("bye")["reason"], "the server ends")
            self.assertEqual(socket.wait_close(), 1001)
        self.assertEqual(self.server.process.wait(10 * PATIENCE), 0)
        self.server = self.start()


if __name__ == "__main__":
    unittest.main()
