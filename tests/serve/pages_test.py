"""Pages: opening, editing, following, saving, recovery."""
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time
import unittest

from client import PATIENCE, Failed
from kit import ROOT, ServerTest, block, chain, number, page_text


class Pages(ServerTest):
    def test_info_schema_and_help(self):
        info = self.server.get("/v1/info")
        self.assertEqual((info["protocol"], info["read_only"], info["folder"]), (1, False, "pages"))
        status, headers, body = self.server.call("GET", "/v1/schema", raw=True)
        self.assertEqual((status, headers["ETag"]), (200, info["schema"]))
        self.assertIn("MatMul", [each["block"] for each in json.loads(body)])
        status, _, body = self.server.call("GET", "/v1/schema", raw=True, headers={"If-None-Match": info["schema"]})
        self.assertEqual((status, body), (304, b""))
        _, headers, body = self.server.call("GET", "/v1/schema", raw=True, headers={"Accept-Encoding": "gzip"})
        self.assertEqual((headers["Content-Encoding"], body[:2]), ("gzip", b"\x1f\x8b"))
        self.assertIn("# Add", self.server.get("/v1/blocks/Add/help")["markdown"])
        self.assertIn("hint", self.fails(404, "GET", "/v1/blocks/Ad/help")["error"])

    def test_examples_and_templates_open(self):
        names = [each["name"] for each in self.server.get("/v1/examples")["examples"]]
        self.assertIn("xor", names)
        for name in names:
            page = self.server.post("/v1/pages", {"example": name})
            self.assertEqual((page["errors"], page["dirty"], page["path"]), (0, False, None), name)
        for each in self.server.get("/v1/templates")["templates"]:
            self.assertEqual(self.server.post("/v1/pages", {"template": each["name"], "name": "new"})["errors"], 0)

    def test_view_has_everything(self):
        _, path = self.open()
        view = self.server.get(path + "/view")
        self.assertEqual(len(view["blocks"]), 23)
        self.assertIn(["x.output", "x_w1.a"], view["wires"])
        self.assertEqual(view["types"]["loss.output"], {"dtype": "DT_FLOAT", "shape": []})
        self.assertEqual(view["keys"], {"weft": 1, "page": "xor"})
        self.assertEqual(set(view["auto_layout"]), {each["id"] for each in view["blocks"]})

    def test_a_path_opened_by_many_at_once_is_one_page(self):
        (self.work / "long.page.json").write_text(chain(2000))
        opened = []
        threads = [threading.Thread(target=lambda: opened.append(self.server.post("/v1/pages", {"path": "long.page.json"})["id"])) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(opened), len(set(opened))), (6, 1))
        self.assertEqual([each["id"] for each in self.server.get("/v1/pages")["pages"]], opened[:1])

    def test_the_same_path_is_one_page(self):
        first = self.server.post("/v1/pages", {"path": "xor.page.json"})
        self.assertEqual(self.server.post("/v1/pages", {"path": "./xor.page.json"})["id"], first["id"])

    def test_edit_conflict_and_refusal(self):
        _, path = self.open()
        change = self.server.call("PATCH", path, {"edits": [{"op": "rename", "block": "hidden", "to": "h"}], "label": "Rename"}, headers={"If-Match": '"1"'})
        self.assertEqual((change["revision"], change["renamed"], change["undo_label"]), (2, [["hidden", "h"]], "Rename"))
        self.assertEqual(change["wires"]["hidden_w2"], [["h.y", "hidden_w2.a"], ["w2.ref", "hidden_w2.b"]])
        self.assertEqual(change["checked"]["types_removed"], ["hidden.y"])
        stale = self.fails(409, "PATCH", path, {"edits": []}, headers={"If-Match": '"1"'})
        self.assertEqual(stale["revision"], 2)
        edit = {"edits": [{"op": "connect", "from": "x.output", "to": "loss.axis"}], "mode": "strict"}
        error = self.fails(422, "PATCH", path, edit)["error"]
        self.assertEqual((error["block"], error["port"]), ("loss", "axis"))
        self.assertEqual(self.server.get(path)["revision"], 2)
        self.fails(422, "PATCH", path, {**edit, "mode": "try"})
        self.server.call("PATCH", path, {"edits": edit["edits"]})
        self.assertGreater(self.server.get(path)["errors"], 0)
        self.fails(400, "PATCH", path, {"edits": "no"})
        self.fails(400, "PATCH", path, {"edits": [], "mode": "maybe"})

    def test_random_edits_undone_give_the_original_bytes(self):
        _, path = self.open()
        before = self.server.call("GET", path + "/text", raw=True)[2]
        self.assertEqual(before, (self.work / "xor.page.json").read_bytes())
        dice = random.Random(7)
        for step in range(60):
            ids = [each["id"] for each in self.server.get(path + "/view")["blocks"]]
            edits = dice.choice([
                [{"op": "add", "block": block(f"k{step}", "Const", value=number(step)), "layout": [step, 40]}],
                [{"op": "remove", "block": dice.choice(ids)}],
                [{"op": "rename", "block": dice.choice(ids), "to": f"r{step}"}],
                [{"op": "move", "block": dice.choice(ids), "layout": [dice.randrange(900), step]}],
                [{"op": "set", "block": dice.choice(ids), "key": "note", "value": f"n{step}"}]])
            self.server.call("PATCH", path, {"edits": edits})
        self.assertTrue(self.server.get(path)["dirty"])
        for _ in range(60):
            self.server.post(path + "/undo")
        self.fails(409, "POST", path + "/undo", {})
        self.assertEqual(self.server.call("GET", path + "/text", raw=True)[2], before)
        self.assertFalse(self.server.get(path)["dirty"])
        self.server.post(path + "/redo")
        self.assertTrue(self.server.get(path)["dirty"])

    def test_changes_are_enough_to_follow(self):
        """A client that only applies changes has what the view has."""
        self.maxDiff = None
        page, path = self.open()
        view = self.server.get(path + "/view")
        mine = Follower(view)
        other = self.connect()
        other.call("subscribe", topic="page", page=page, from_seq=view["seq"] + 1)
        dice = random.Random(3)
        for step in range(40):
            ids = [each["id"] for each in self.server.get(path + "/view")["blocks"]]
            edits = dice.choice([
                [{"op": "add", "block": block(f"k{step}", "Const", value=number(step)), "place": 2, "layout": [step, 40]},
                 {"op": "add", "block": block(f"s{step}", "Square", x=f"k{step}.output")}],
                [{"op": "remove", "block": dice.choice(ids)}],
                [{"op": "rename", "block": dice.choice(ids), "to": f"r{step}"}],
                [{"op": "move", "block": dice.choice(ids), "layout": dice.choice([None, [step, step]])}],
                [{"op": "set", "key": "page", "value": f"name{step}"}],
                [{"op": "set", "key": "layout", "value": {ids[0]: [1, 2]}}],
                [{"op": "disconnect", "to": dice.choice(self.server.get(path + "/view")["wires"])[1]}]])
            if dice.random() < 0.3 and self.server.get(path)["undo"]:
                self.server.post(path + "/undo")
            else:
                self.server.call("PATCH", path, {"edits": edits})
            mine.apply(other.wait("page.changed")["change"])
            mine.check(other.wait("page.checked")["checked"])
            wanted = Follower(self.server.get(path + "/view")).state()
            for part, value in mine.state().items():
                self.assertEqual(value, wanted[part], f"{part} after step {step}: {edits}")

    def test_text_is_replaced_as_one_edit(self):
        _, path = self.open()
        view = self.server.get(path + "/view")
        text = json.loads(self.server.call("GET", path + "/text", raw=True)[2])
        text["blocks"] = list(reversed(text["blocks"]))[:-3]
        text["title"] = "mine"
        body = json.dumps(text).encode()
        self.fails(400, "PUT", path + "/text", body)
        change = self.server.call("PUT", path + "/text", body, headers={"If-Match": f'"{view["revision"]}"'})
        self.assertEqual((change["cause"], change["undo"]), ("replace", 1))
        now = self.server.get(path + "/view")
        self.assertEqual([each["id"] for each in now["blocks"]], [each["id"] for each in text["blocks"]])
        self.assertEqual(now["keys"]["title"], "mine")
        self.fails(409, "PUT", path + "/text", body, headers={"If-Match": '"1"'})
        same = self.server.call("PUT", path + "/text", body, headers={"If-Match": f'"{change["revision"]}"'})
        self.assertEqual((same["revision"], same["undo"], same["checked"]["types"]), (change["revision"], 1, {}))
        self.server.post(path + "/undo")
        self.assertEqual(self.server.call("GET", path + "/text", raw=True)[2], (self.work / "xor.page.json").read_bytes())
        self.fails(422, "PUT", path + "/text", b"[1, 2", headers={"If-Match": f'"{self.server.get(path)["revision"]}"'})

    def test_save_keeps_bytes_and_sees_changes_on_disk(self):
        original = b'{"weft":1,   "page":"loose", "blocks":[ {"id":"a","block":"Const","inputs":{"value":{"dtype":"DT_FLOAT","shape":[],"values":[1.0]}}} ]}'
        file = self.work / "loose.page.json"
        file.write_bytes(original)
        _, path = self.open(path="loose.page.json")
        self.server.post(path + "/save")
        self.assertEqual(file.read_bytes(), original)
        self.server.call("PATCH", path, {"edits": [{"op": "set", "block": "a", "key": "note", "value": "x"}]})
        self.server.post(path + "/undo")
        self.server.post(path + "/save")
        self.assertEqual(file.read_bytes(), original)
        self.server.call("PATCH", path, {"edits": [{"op": "set", "block": "a", "key": "note", "value": "x"}]})
        file.write_bytes(original + b"\n")
        self.fails(409, "POST", path + "/save", {}, code="aborted")
        self.fails(409, "POST", path + "/save", {"path": "xor.page.json"}, code="already_exists")
        saved = self.server.post(path + "/save", {"path": "other.page.json"})
        self.assertEqual((saved["path"], saved["dirty"], saved["on_disk"]), ("other.page.json", False, "same"))
        self.assertIn(b'"note": "x"', (self.work / "other.page.json").read_bytes())

    def test_change_on_disk_is_told_and_loaded(self):
        page, path = self.open()
        socket = self.connect(page)
        file = self.work / "xor.page.json"
        file.write_text(file.read_text().replace('"xor"', '"xor2"'))
        self.assertEqual(socket.wait("page.disk")["on_disk"], "changed")
        change = self.server.post(path + "/reload")
        self.assertEqual((change["cause"], change["page_keys"], change["dirty"]), ("reload", {"page": "xor2"}, False))
        self.assertEqual(self.server.get(path)["on_disk"], "same")

    def test_enuspace_pages_open_and_are_saved_as_weft(self):
        def pin(name, interface, initial="", source="", port=""):
            return {"pin-name": name, "pin-type": "double", "pin-save": "text", "pin-shape": "", "pin-interface": interface, "pin-datatype": "", "pin-initial": initial,
                    "in-symbol-name": "#Add" if source else "", "in-symbol-id": source, "in-symbol-pin-name": port, "in-symbol-pin-interface": ""}

        objects = [{"symbol-name": "#Add", "id": "sum", "input": [pin("x", "Input", "1.5f"), pin("y", "Input", "2f")], "output": [pin("z", "Output")]},
                   {"symbol-name": "#ClientSession", "id": "run", "input": [pin("fetch_outputs", "OutputList", "", "sum", "z")], "output": []}]
        original = b"\xff\xfe" + json.dumps({"object": objects}).encode("utf-16-le")
        (self.work / "old.json").write_bytes(original)
        (self.work / "other.json").write_text('{"some": "data"}')
        kinds = {each["path"]: each["kind"] for each in self.server.get("/v1/files")["files"]}
        self.assertEqual(kinds, {"xor.page.json": "page", "old.json": "json"})
        page, path = self.open(path="old.json")
        self.assertEqual(self.server.get(path)["format"], "enuspace_json")
        run = self.server.post("/v1/runs", {"page": page})
        self.finish(run)
        self.assertEqual(self.server.get(path + "/value?name=sum.z")["values"], [3.5])
        self.server.post(path + "/save")
        self.assertEqual((self.work / "old.json").read_bytes(), original)
        self.server.call("PATCH", path, {"edits": [{"op": "rename", "block": "sum", "to": "total"}]})
        self.fails(409, "POST", path + "/save", {}, code="failed_precondition")
        self.assertEqual(self.server.post(path + "/save", {"path": "new.page.json"})["format"], "weft")
        self.assertIn('"total"', (self.work / "new.page.json").read_text())
        self.assertEqual((self.work / "old.json").read_bytes(), original)

    def test_closing_asks_for_unsaved_edits(self):
        _, path = self.open()
        self.server.call("PATCH", path, {"edits": [{"op": "remove", "block": "loss"}]})
        self.fails(409, "DELETE", path, code="failed_precondition")
        self.server.call("DELETE", path + "?discard=1")
        self.fails(404, "GET", path)
        self.assertEqual(self.server.get("/v1/recovery")["recovery"], [])

    def test_wires_and_fits(self):
        _, path = self.open()
        self.assertEqual(self.server.get(path + "/check_wire?from=x_w1.product&to=z1.value"), {"fits": True})
        answer = self.server.get(path + "/check_wire?from=x.output&to=loss.axis")
        self.assertEqual((answer["fits"], answer["reason"]["port"]), (False, "axis"))
        fits = self.server.get(path + "/fits?from=x.output&blocks=1")
        self.assertIn("hidden.x", fits["inputs"])
        self.assertNotIn("loss.axis", fits["inputs"])
        self.assertIn({"block": "Add", "ports": ["x", "y"]}, fits["blocks"])
        self.assertIn("x.output", self.server.get(path + "/fits?to=hidden.x")["outputs"])
        self.assertEqual(self.server.get(path + "/why_not?block=loss")["reasons"], [])
        self.assertIn("steps", self.server.get(path + "/plan"))
        self.assertIn("xor", self.server.call("GET", path + "/picture", raw=True)[2].decode())
        self.fails(400, "GET", path + "/fits")

    def test_validate_opens_nothing(self):
        answer = self.server.post("/v1/validate", {"text": page_text(block("a", "Tanh", x="b.y")), "name": "p"})
        self.assertEqual(answer["diagnostics"][0]["block"], "a")
        self.assertEqual(self.server.get("/v1/pages")["pages"], [])

    def test_pages_that_were_never_saved_stay_unsaved(self):
        _, path = self.open(text=chain(3), name="pasted")
        self.assertTrue(self.server.get(path)["dirty"])
        self.server.call("PATCH", path, {"edits": [{"op": "remove", "block": "b2"}]})
        self.assertTrue(self.server.post(path + "/undo")["dirty"])
        self.fails(409, "DELETE", path, code="failed_precondition")
        self.assertFalse(self.server.post(path + "/save", {"path": "pasted.page.json"})["dirty"])

    def test_large_page(self):
        page, path = self.open(text=chain(5000), name="large")
        socket = self.connect(page)
        self.server.get(path + "/view")
        edits = {"note": lambda step: {"op": "set", "block": f"b{step + 1}", "key": "note", "value": "x"},
                 "move": lambda step: {"op": "move", "block": f"b{step + 1}", "layout": [step, 40]},
                 "add": lambda step: {"op": "add", "block": block(f"k{step}", "Tanh", x="b7.y"), "layout": [step, 80]},
                 "connect": lambda step: {"op": "connect", "from": f"b{step + 1}.y", "to": f"k{step}.x"}}
        for name, edit in [*edits.items(), ("undo", None)]:
            times = []
            for step in range(9):
                start = time.time()
                if edit:
                    self.server.call("PATCH", path, {"edits": [edit(step)]})
                else:
                    self.server.post(path + "/undo")
                socket.wait("page.checked")
                times.append(time.time() - start)
            print(f"{name} of 5,000 blocks: {sorted(times)[4] * 1000:.1f} ms (median, with its check)")
            self.assertLess(sorted(times)[4], 0.25 * PATIENCE)  # below 10 ms on a quiet machine


class Recovery(ServerTest):
    def test_edits_survive_a_kill(self):
        _, path = self.open()
        self.server.call("PATCH", path, {"edits": [{"op": "rename", "block": "hidden", "to": "h"}]})
        self.server.call("PATCH", path, {"edits": [{"op": "remove", "block": "loss"}]})
        self.server.post(path + "/undo")
        text = self.server.call("GET", path + "/text", raw=True)[2]
        left = self.crash()
        self.assertEqual([(each["path"], each["edits"], each["changed_on_disk"]) for each in left], [("xor.page.json", 3, False)])
        page = self.server.post(f"/v1/recovery/{left[0]['id']}/open")
        self.assertTrue(page["dirty"])
        self.assertEqual(self.server.call("GET", f"/v1/pages/{page['id']}/text", raw=True)[2], text)
        # What was recovered is in a journal again.
        left = self.crash()
        self.assertEqual(len(left), 1)
        self.server.call("DELETE", "/v1/recovery/" + left[0]["id"])
        self.assertEqual(self.server.get("/v1/recovery")["recovery"], [])
        self.fails(404, "POST", "/v1/recovery/" + left[0]["id"] + "/open", {})

    def test_long_journals_begin_anew(self):
        """The journal stays short, and whenever the server is killed it has all edits that were answered."""
        dice = random.Random(5)
        journals = self.folder / "state"

        def edit(path, killer):
            """Edits until the server is gone, which `killer` sees to once the first is answered; the texts that may be found: after the last answer,
            and after what came next."""
            last = None
            while True:
                note = {"op": "set", "block": "hidden", "key": "note", "value": dice.choice("abc") * dice.randrange(200000, 400000)}
                after = None
                try:
                    self.server.call("PATCH", path, {"edits": [note]})
                    last = after = self.server.call("GET", path + "/text", raw=True)[2]
                except (OSError, http.client.HTTPException):
                    break
                if not killer.ident:
                    killer.start()
            return last, note["value"].encode() if after is None else b""

        _, path = self.open()
        for round_ in range(6):
            killer = threading.Timer(dice.uniform(0.3, 0.9) * PATIENCE, lambda: self.server.process.kill())
            last, note = edit(path, killer)
            killer.join()
            self.server.process.wait()
            files = [file for file in journals.rglob("*") if file.is_file()]
            self.assertLess(sum(file.stat().st_size for file in files), 3 << 20, files)
            self.server = self.start()
            left = self.server.get("/v1/recovery")["recovery"]
            self.assertEqual(len(left), 1)
            self.assertGreater(left[0]["edits"], 0)
            self.assertEqual([file.suffix for file in journals.rglob("*") if file.is_file()], [".jsonl"])
            opened = self.server.post(f"/v1/recovery/{left[0]['id']}/open")
            self.assertTrue(opened["dirty"])
            path = "/v1/pages/" + opened["id"]
            text = self.server.call("GET", path + "/text", raw=True)[2]
            self.assertTrue(text == last or (note and note in text), f"round {round_}: {len(text)} bytes, not {len(last)}")

    def test_no_edit_waits_for_the_disk(self):
        """While a long journal begins anew and the disk is slow, edits are answered: of other pages, and of the page itself. None is lost."""
        library, hold = self.folder / "hold_fsync.so", self.folder / "hold"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, pathlib.Path(__file__).parent / "hold_fsync.c"], check=True)
        held = {"LD_PRELOAD": str(library), "WEFT_HOLD_FSYNC": str(hold),
                "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}

        def note(path, text, timeout=10):
            edit = {"op": "set", "block": "hidden", "key": "note", "value": text}
            self.server.call("PATCH", path, {"edits": [edit]}, timeout=timeout)

        for killed_while_it_waits in True, False:
            self.server.stop()
            self.server = self.start(env=held)
            _, path = self.open()
            text = self.server.call("GET", path + "/text", raw=True)[2].decode()
            _, other = self.open(text=text, name="other")
            hold.touch()
            for letter in "abc":
                note(path, letter * 500000)
            self.wait_for(lambda: hold.with_name("hold.waits").exists(), "the journal begins anew")
            note(other, "of the other page")
            note(path, "while the disk is slow")
            if not killed_while_it_waits:
                hold.unlink()
                journals = self.folder / "state"
                self.wait_for(lambda: max(file.stat().st_size for file in journals.rglob("*.jsonl")) < 1 << 20, "the new journal is in place")
            left = self.crash()
            hold.unlink(missing_ok=True)
            hold.with_name("hold.waits").unlink()
            self.assertEqual(sorted((each["name"], each["edits"]) for each in left), [("other", 1), ("xor.page.json", 4)])
            for each in left:
                page = self.server.post(f"/v1/recovery/{each['id']}/open")
                wanted = "of the other page" if each["name"] == "other" else "while the disk is slow"
                self.assertIn(wanted, self.server.call("GET", f"/v1/pages/{page['id']}/text", raw=True)[2].decode())
                self.server.call("DELETE", f"/v1/pages/{page['id']}?discard=1")

    def test_what_was_recovered_survives_the_next_crash(self):
        _, path = self.open()
        for letter in "abcdefghi":
            self.server.call("PATCH", path, {"edits": [{"op": "set", "block": "hidden", "key": "note", "value": letter * 300000}]})
        text = self.server.call("GET", path + "/text", raw=True)[2]
        for _ in range(3):
            left = self.crash()
            self.assertEqual([each["edits"] for each in left], [9])
            page = self.server.post(f"/v1/recovery/{left[0]['id']}/open")
            self.assertEqual(self.server.call("GET", f"/v1/pages/{page['id']}/text", raw=True)[2], text)
            self.assertTrue(page["dirty"])

    def test_recovered_enuspace_page_is_not_written_over(self):
        original = json.dumps({"object": [{"symbol-name": "#Const", "id": "c", "input": [], "output": []}]}).encode()
        (self.work / "old.json").write_bytes(original)
        _, path = self.open(path="old.json")
        self.server.call("PATCH", path, {"edits": [{"op": "rename", "block": "c", "to": "d"}]})
        left = self.crash()
        page = self.server.post(f"/v1/recovery/{left[0]['id']}/open")
        self.assertEqual((page["format"], page["dirty"]), ("enuspace_json", True))
        path = "/v1/pages/" + page["id"]
        self.fails(409, "POST", path + "/save", {}, code="failed_precondition")
        self.server.post(path + "/undo")
        self.fails(409, "POST", path + "/save", {}, code="failed_precondition")
        self.assertEqual((self.work / "old.json").read_bytes(), original)
        self.assertEqual(self.server.post(path + "/save", {"path": "new.page.json"})["format"], "weft")

    def test_what_cannot_be_recovered_is_kept(self):
        _, path = self.open()
        self.server.call("PATCH", path, {"edits": [{"op": "rename", "block": "hidden", "to": "h"}]})
        self.server.stop(signal.SIGKILL)
        journal, = (self.folder / "state").rglob("*.jsonl")
        with journal.open("a") as file:
            for edit in ({"op": "remove", "block": "nothing"}, {"op": "remove", "block": "h"}):
                file.write(json.dumps(json.dumps([edit])) + "\n")
        self.server = self.start()
        left = self.server.get("/v1/recovery")["recovery"]
        self.assertEqual([each["edits"] for each in left], [3])
        page = self.server.post(f"/v1/recovery/{left[0]['id']}/open")
        self.assertEqual((page["missing_edits"], page["dirty"]), (2, True))
        self.assertEqual(self.server.get("/v1/recovery")["recovery"], left)
        self.server.call("DELETE", f"/v1/pages/{page['id']}?discard=1")
        self.assertEqual(self.server.post(f"/v1/recovery/{left[0]['id']}/open")["missing_edits"], 2)
        self.server.call("DELETE", "/v1/recovery/" + left[0]["id"])
        self.assertEqual(self.server.get("/v1/recovery")["recovery"], [])

    def test_saved_pages_leave_nothing(self):
        _, path = self.open()
        self.server.call("PATCH", path, {"edits": [{"op": "rename", "block": "hidden", "to": "h"}]})
        self.server.post(path + "/save")
        self.assertEqual(self.server.stop(), 130)
        self.server = self.start()
        self.assertEqual(self.server.get("/v1/recovery")["recovery"], [])


class Follower:
    """A page as a client has it that applies changes."""

    def __init__(self, view):
        self.blocks = {each["id"]: each for each in view["blocks"]}
        self.order = [each["id"] for each in view["blocks"]]
        self.wires = {}
        for start, end in view["wires"]:
            self.wires.setdefault(end.split(".")[0], []).append([start, end])
        self.layout, self.keys, self.types, self.diagnostics = view["layout"], view["keys"], view["types"], view["diagnostics"]

    def apply(self, change):
        for old, new in change["renamed"]:
            self.blocks.pop(old, None)
            self.order = [new if each == old else each for each in self.order]
            if old in self.layout:
                self.layout[new] = self.layout.pop(old)
            self.wires.pop(old, None)
        gone = set(change["removed"])
        self.order = [each for each in self.order if each not in gone]
        for each in gone:
            self.blocks.pop(each, None)
            self.wires.pop(each, None)
        arriving = {entry["block"]["id"] for entry in change["blocks"]}
        self.order = [each for each in self.order if each not in arriving]
        for entry in change["blocks"]:
            id_ = entry["block"]["id"]
            self.order.insert(entry["place"], id_)
            self.blocks[id_] = entry["block"]
        for id_, wires in change["wires"].items():
            self.wires[id_] = wires
        if change.get("layout_all"):
            self.layout = {}
        for id_, place in change["layout"].items():
            self.layout.pop(id_, None)
            if place is not None:
                self.layout[id_] = place
        for key, value in change["page_keys"].items():
            self.keys.pop(key, None)
            if value is not None:
                self.keys[key] = value

    def check(self, checked):
        for name in checked["types_removed"]:
            self.types.pop(name)
        self.types.update(checked["types"])
        self.diagnostics = checked["diagnostics"]

    def state(self):
        wires = sorted(wire for wires in self.wires.values() for wire in wires)
        return {"blocks": [self.blocks[each] for each in self.order], "wires": wires, "layout": self.layout, "keys": self.keys, "types": self.types,
                "diagnostics": self.diagnostics}


if __name__ == "__main__":
    unittest.main()
