"""Runs, values, breakpoints, events."""
import json
import math
import time
import unittest

from kit import ServerTest, block, chain, counter, number, page_text


class Runs(ServerTest):
    def test_train_with_live_values(self):
        page, path = self.open()
        socket = self.connect(page)
        socket.call("subscribe", topic="run", page=page, interval_ms=16, blocks=True)
        sub = socket.call("subscribe", topic="value", page=page, name="loss.output", reduction="mean", interval_ms=5)["sub"]
        socket.call("subscribe", topic="summaries", page=page, names=["prediction.y"], interval_ms=16)
        run = self.server.post("/v1/runs", {"page": page, "steps": 3000}, headers={"Weft-Client": socket.client})
        self.assertEqual(run["by"], socket.client)
        self.assertEqual(socket.wait("run.started")["run"]["id"], run["id"])
        ended = socket.wait("run.ended")["run"]
        self.assertEqual((ended["outcome"], ended["sessions"][0]["runs"]), ("ok", 3000))
        frame = socket.wait_frame()
        self.assertEqual((frame["sub"], frame["tensors"][0]["dtype"], frame["tensors"][0]["shape"]), (sub, "DT_DOUBLE", []))
        tick = socket.wait("run.tick")
        while tick["run"]["state"] != "ended":
            tick = socket.wait("run.tick")
        self.assertEqual(tick["run"]["sessions"][0]["runs"], 3000)
        values = socket.wait("values")["values"]
        while values["prediction.y"]["generation"] != 3000:
            values = socket.wait("values")["values"]
        self.assertEqual([round(each) for each in values["prediction.y"]["first"]], [0, 1, 1, 0])
        got = self.server.post(path + "/values", {"names": ["loss.output", "none.z"]})["values"]
        self.assertLess(got["loss.output"]["max"], 0.01)
        self.assertIn("error", got["none.z"])
        self.assertIn("loss.output", self.server.post(path + "/values")["values"])

    def test_values_sliced_and_as_files(self):
        text = page_text(block("a", "Const", value={"dtype": "DT_INT64", "shape": [2, 3], "values": [1, 2, 3, 4, 5, 9007199254740993]}),
                         block("b", "Const", value={"dtype": "DT_FLOAT", "shape": [3], "values": [0, -1, 1]}), block("c", "Reciprocal", x="b.output"),
                         block("s", "Const", value={"dtype": "DT_STRING", "shape": [2], "values": ["x", "ä"]}),
                         block("i", "Identity", input="s.output"), block("j", "Identity", input="a.output"),
                         block("run", "ClientSession", fetch_outputs=["c.y", "i.output", "j.output"]))
        page, path = self.open(text=text, name="v")
        self.fails(409, "GET", path + "/value?name=c.y", code="failed_precondition")
        self.finish(self.server.post("/v1/runs", {"page": page}))
        get = lambda query: self.server.get(path + "/value?name=" + query)
        self.assertEqual(get("c.y")["values"], ["Infinity", -1, 1])
        self.assertEqual(get("j.output")["values"], [1, 2, 3, 4, 5, "9007199254740993"])
        self.assertEqual((get("j.output&slice=1,::-2")["values"], get("j.output&slice=1,::-2")["shape"]), (["9007199254740993", 4], [2]))
        self.assertEqual(get("j.output&slice=:,1")["values"], [2, 5])
        self.assertEqual((get("j.output&limit=2")["values"], get("j.output&limit=2")["cut"]), ([1, 2], True))
        self.assertEqual(get("i.output&slice=1")["values"], ["ä"])
        self.fails(400, "GET", path + "/value?name=j.output&slice=2", code="out_of_range")
        self.fails(400, "GET", path + "/value?name=j.output&slice=a")
        self.fails(400, "GET", path + "/value?name=j.output&slice=::0")
        self.fails(400, "GET", path + "/value?name=j.output&slice=1,1,1")
        self.fails(404, "GET", path + "/value?name=nope.z")
        from client import parse_frame
        frame = parse_frame(self.server.call("GET", path + "/value?name=j.output&format=binary&slice=:,1:", raw=True)[2])
        self.assertEqual((frame["tensors"][0]["data"], frame["shape"]), ([2, 3, 5, 9007199254740993], [2, 2]))
        npy = self.server.call("GET", path + "/value?name=c.y&format=npy", raw=True)[2]
        self.assertEqual((npy[:6], len(npy)), (b"\x93NUMPY", 128 + 12))
        self.assertEqual(npy[-8:-4], b"\x00\x00\x80\xbf")
        statistics = self.server.get(path + "/statistics?name=c.y&bins=4")
        self.assertEqual((statistics["inf"], statistics["min"], statistics["max"], statistics["histogram"]["counts"]), (1, -1, 1, [1, 0, 0, 1]))
        self.fails(501, "GET", path + "/value?name=i.output&format=npy")

    def test_variables_and_snapshots(self):
        page, path = self.open(text=counter(), name="counter")
        self.finish(self.server.post("/v1/runs", {"page": page, "steps": 5}))
        variable = self.server.get(path + "/variables")["variables"][0]
        self.assertEqual((variable["name"], variable["text"]), ("n", "5"))
        saved = self.server.post(path + "/state/save", {"path": "five.weftstate"})
        self.assertEqual(saved["variables"], 1)
        self.fails(409, "POST", path + "/state/save", {"path": "five.weftstate"}, code="already_exists")
        self.server.call("PUT", path + "/variable?name=n", number(41))
        self.finish(self.server.post("/v1/runs", {"page": page}))
        self.assertEqual(self.server.get(path + "/variable?name=n")["values"], [42])
        npy = self.server.call("GET", path + "/variable?name=n&format=npy", raw=True)[2]
        self.server.post(path + "/state/restore", {"path": "five.weftstate"})
        self.assertEqual(self.server.get(path + "/variable?name=n")["values"], [5])
        self.server.call("PUT", path + "/variable?name=n", npy, headers={"Content-Type": "application/x-npy"})
        self.assertEqual(self.server.get(path + "/variable?name=n")["values"], [42])
        self.fails(422, "PUT", path + "/variable?name=n", number(1, "DT_INT32"))
        self.fails(400, "PUT", path + "/variable?name=n", {"dtype": "DT_FLOAT", "shape": [2], "values": [1]})
        self.fails(400, "PUT", path + "/variable?name=n", b"junk", headers={"Content-Type": "application/x-npy"})
        self.fails(403, "POST", path + "/state/save", {"path": "../out.weftstate"})

    def test_feeds(self):
        page, path = self.open()
        shape = {"dtype": "DT_FLOAT", "shape": [4, 1]}
        self.server.call("PUT", path + "/feed?name=y.output", {**shape, "values": [[1], [1], [1], [1]]})
        self.assertEqual(self.server.get(path + "/feeds")["feeds"], [{"name": "y.output", **shape}])
        self.finish(self.server.post("/v1/runs", {"page": page, "steps": 400}))
        values = self.server.post(path + "/values", {"names": ["prediction.y"]})["values"]["prediction.y"]
        self.assertGreater(values["min"], 0.8)
        self.server.call("DELETE", path + "/feed?name=y.output")
        self.fails(404, "DELETE", path + "/feed?name=y.output")
        self.fails(404, "PUT", path + "/feed?name=nope.output", {**shape, "values": [1, 1, 1, 1]})

    def test_pause_step_stop_cancel(self):
        page, path = self.open(text=counter(), name="counter")
        run = self.server.post("/v1/runs", {"page": page, "steps": "until_stopped", "paused": True})
        paused = self.server.wait_for_run(run["id"], "paused")
        self.assertEqual((paused["sessions"][0]["runs"], paused["sessions"][0]["pause"]["reason"]), (0, "asked"))
        stepped = self.server.post(f"/v1/runs/{run['id']}/step", {"by": "run"})
        stepped = self.server.wait_for_run(run["id"], "paused")
        self.assertEqual((stepped["sessions"][0]["runs"], stepped["sessions"][0]["pause"]["reason"]), (1, "stepped"))
        self.fails(409, "POST", "/v1/runs", {"page": page}, code="failed_precondition")
        self.server.post(f"/v1/runs/{run['id']}/resume")
        self.fails(409, "POST", f"/v1/runs/{run['id']}/resume", {})
        self.server.post(f"/v1/runs/{run['id']}/stop")
        self.finish(run, "stopped")
        self.fails(409, "POST", f"/v1/runs/{run['id']}/stop", {})
        run = self.server.post("/v1/runs", {"page": page, "steps": "until_stopped", "interval_ms": 5})
        time.sleep(0.05)
        self.server.call("DELETE", f"/v1/runs/{run['id']}")
        self.finish(run, "cancelled")
        self.assertEqual(len(self.server.get("/v1/runs?page=" + page)["runs"]), 2)
        self.fails(404, "GET", f"/v1/runs/{page}r99")
        self.fails(404, "GET", "/v1/runs/zzz")

    def test_ended_runs_have_counted_all(self):
        page, _ = self.open(text=counter(), name="counter")
        for count in range(1, 60):
            ended = self.finish(self.server.post("/v1/runs", {"page": page}))
            self.assertEqual(ended["sessions"][0]["runs"], count)

    def test_run_to_here_and_until_block(self):
        page, path = self.open()
        run = self.finish(self.server.post("/v1/runs", {"page": page, "fetches": ["hidden.y"]}))
        self.assertEqual(run["target"], "fetches")
        self.assertEqual(self.server.get(path + "/value?name=hidden.y")["session"], "fetch")
        self.fails(409, "GET", path + "/value?name=loss.output")
        run = self.server.post("/v1/runs", {"page": page, "until_block": "loss"})
        paused = self.server.wait_for_run(run["id"], "paused")["sessions"][0]["pause"]
        self.assertEqual((paused["reason"], paused["block"]), ("reached", "loss"))
        value = self.server.get(path + "/value?name=squared.y")
        self.assertTrue(value["in_progress"])
        self.server.post(f"/v1/runs/{run['id']}/resume")
        self.finish(run)
        self.fails(422, "POST", "/v1/runs", {"page": page, "fetches": ["nope.z"]})

    def test_breakpoint_on_nan_value_replaced_run_continued(self):
        text = page_text(block("n", "Variable", initvalues=number(2)), block("down", "AssignSub", ref="n.ref", value=number(1)),
                         block("root", "Sqrt", x="down.output_ref"), block("twice", "Add", x="root.y", y="root.y"),
                         block("run", "ClientSession", fetch_outputs=["twice.z"]))
        page, path = self.open(text=text, name="nan")
        self.fails(400, "POST", path + "/breakpoints", {"kind": "not_finite"})
        socket = self.connect()
        mine = {"Weft-Client": socket.client}
        socket.call("subscribe", topic="page", page=page)
        point = self.server.post(path + "/breakpoints", {"kind": "not_finite"}, headers=mine)
        self.assertEqual(socket.wait("breakpoints")["breakpoints"], [point])
        run = self.server.post("/v1/runs", {"page": page, "steps": 5})
        pause = self.server.wait_for_run(run["id"], "paused")["sessions"][0]
        self.assertEqual((pause["pause"]["reason"], pause["pause"]["breakpoint"], pause["runs"]), ("break", point["id"], 2))
        self.assertEqual(socket.wait("breakpoints")["breakpoints"][0]["hits"], 1)
        self.assertEqual(self.server.get(path + "/value?name=root.y")["values"], ["NaN"])
        self.assertTrue(self.server.post(path + "/values", {"names": ["root.y"]})["values"]["root.y"]["in_progress"])
        self.server.post(f"/v1/runs/{run['id']}/override", {"name": "root.y", "value": number(3)})
        self.server.call("PATCH", f"{path}/breakpoints/{point['id']}", {"enabled": False})
        self.server.post(f"/v1/runs/{run['id']}/step", {"by": "run"})
        self.server.wait_for_run(run["id"], "paused")
        self.assertEqual(self.server.get(path + "/value?name=twice.z")["values"], [6])
        self.server.post(f"/v1/runs/{run['id']}/resume")
        self.finish(run)
        self.server.call("DELETE", f"{path}/breakpoints/{point['id']}")
        self.assertEqual(self.server.get(path + "/breakpoints")["breakpoints"], [])
        self.fails(422, "POST", path + "/breakpoints", {"kind": "before", "block": "nope"}, headers=mine)
        self.fails(422, "POST", path + "/breakpoints", {"kind": "condition", "condition": "root.y <"}, headers=mine)
        self.fails(400, "POST", path + "/breakpoints", {"kind": "never"}, headers=mine)

    def test_lease_of_breakpoints(self):
        page, path = self.open(text=counter(), name="counter")
        seconds = self.server.get("/v1/info")["limits"]["lease_seconds"]
        first = self.server.socket()
        self.server.post(path + "/breakpoints", {"kind": "before", "block": "up"}, headers={"Weft-Client": first.client})
        first.close()
        second = self.server.socket(resume=first.client)
        self.assertTrue(second.hello["resumed"])
        run = self.server.post("/v1/runs", {"page": page, "steps": 3})
        self.server.wait_for_run(run["id"], "paused")
        second.close()
        ended = self.server.wait_for_run(run["id"], seconds=seconds + 10)
        self.assertEqual((ended["outcome"], ended["sessions"][0]["runs"]), ("ok", 3))
        self.assertEqual(self.server.get(path + "/breakpoints")["breakpoints"], [])

    def test_a_session_may_be_called_fetch(self):
        text = page_text(block("c", "Const", value=number(2)), block("fetch", "ClientSession", fetch_outputs=["c.output"]))
        page, path = self.open(text=text, name="fetch")
        ended = self.finish(self.server.post("/v1/runs", {"page": page}))
        self.assertEqual([(each["id"], each["runs"]) for each in ended["sessions"]], [("fetch", 1)])
        ended = self.finish(self.server.post("/v1/runs", {"page": page, "fetches": ["c.output"]}))
        self.assertEqual([(each["id"], each["runs"]) for each in ended["sessions"]], [("fetch", 1)])
        self.assertEqual(self.server.get(path + "/value?name=c.output")["values"], [2])

    def test_subscriptions_last_from_one_run_of_fetches_to_the_next(self):
        page, _ = self.open(text=counter(), name="counter")
        socket = self.connect()
        fetches = {"page": page, "fetches": ["up.output_ref"]}
        self.finish(self.server.post("/v1/runs", fetches))
        socket.call("subscribe", topic="value", page=page, name="up.output_ref", session="fetch", reduction="each", interval_ms=0)
        for value in (2, 3):
            self.finish(self.server.post("/v1/runs", fetches))
            self.assertEqual(socket.wait_frame()["tensors"][0]["data"], [value])

    def test_errors_of_runs_name_the_block(self):
        text = page_text(block("a", "Const", value={"dtype": "DT_INT32", "shape": [], "values": [1]}), block("z", "Variable", initvalues=number(0, "DT_INT32")),
                         block("d", "Div", x="a.output", y="z.ref"), block("run", "ClientSession", fetch_outputs=["d.z"]))
        page, path = self.open(text=text, name="zero")
        socket = self.connect(page)
        run = self.server.post("/v1/runs", {"page": page})
        error = socket.wait("run.error")["error"]
        self.assertEqual((error["block"], error["phase"]), ("d", "run"))
        self.assertEqual(self.finish(run, "failed")["error"]["block"], "d")
        self.server.call("PATCH", path, {"edits": [{"op": "disconnect", "to": "d.x"}]})
        page2, _ = self.open(text=page_text(block("a", "Tanh"), block("run", "ClientSession", fetch_outputs=["a.y"])), name="faulty")
        error = self.fails(422, "POST", "/v1/runs", {"page": page2})["error"]
        self.assertIn("a", [each.get("block") for each in [error, *error.get("others", []), *error.get("causes", [])]])

    def test_prints(self):
        text = page_text(block("a", "Const", value=number(7)), block("p", "Print", "message_ = seen ;", input="a.output", data=["a.output"]),
                         block("run", "ClientSession", fetch_outputs=["p.output"]))
        page, _ = self.open(text=text, name="prints")
        socket = self.connect(page)
        self.finish(self.server.post("/v1/runs", {"page": page, "steps": 500}))
        first = socket.wait("run.print")
        self.assertEqual((first["block"], first["session"]), ("p", "run"))
        self.assertIn("7", first["text"])

    def test_modes(self):
        page, path = self.open(text=counter(), name="counter")
        self.assertEqual(self.server.post(path + "/mode", {"mode": "RUN", "interval_ms": 2})["run"]["state"], "running")
        time.sleep(0.05)
        self.server.post(path + "/mode", {"mode": "FREEZE"})
        run = self.server.get("/v1/runs?page=" + page)["runs"][0]
        self.server.wait_for_run(run["id"], "paused")
        self.server.post(path + "/mode", {"mode": "STEP"})
        self.server.wait_for_run(run["id"], "paused")
        self.server.post(path + "/mode", {"mode": "EDIT"})
        self.finish(run, "cancelled")
        self.fails(400, "POST", path + "/mode", {"mode": "FLY"})

    def test_modes_and_a_run_of_fetches(self):
        page, path = self.open(text=counter(), name="counter")
        run = self.server.post("/v1/runs", {"page": page, "fetches": ["up.output_ref"], "steps": "until_stopped", "interval_ms": 2})
        self.fails(409, "POST", path + "/mode", {"mode": "RUN"}, code="failed_precondition")
        self.assertEqual(self.server.post(path + "/mode", {"mode": "FREEZE"})["run"]["id"], run["id"])
        self.server.wait_for_run(run["id"], "paused")
        for mode in ("RUN", "STEP"):
            self.fails(409, "POST", path + "/mode", {"mode": mode}, code="failed_precondition")
        self.server.post(path + "/mode", {"mode": "EDIT"})
        self.finish(run, "cancelled")
        self.assertEqual(len(self.server.get("/v1/runs?page=" + page)["runs"]), 1)
        run = self.server.post(path + "/mode", {"mode": "RUN", "interval_ms": 2})["run"]
        self.assertEqual((run["target"], run["state"]), ("page", "running"))
        self.server.post(path + "/mode", {"mode": "EDIT"})
        self.finish(run, "cancelled")

    def test_a_session_that_loops_runs_until_it_is_stopped(self):
        for attrs in ("INFINITE_LOOP_ = true;", "SHOW_DEBUG_ = false; INFINITE_LOOP = 1", {"INFINITE_LOOP": True}):
            with self.subTest(attrs=attrs):
                blocks = json.loads(counter())["blocks"]
                blocks[-1]["attrs"] = attrs
                page, _ = self.open(text=page_text(*blocks), name="loop")
                run = self.server.post("/v1/runs", {"page": page, "session": "run", "interval_ms": 1})
                now = lambda: self.server.get("/v1/runs/" + run["id"])["sessions"][0]
                self.wait_for(lambda: now()["runs"] > 2, "the session loops")
                self.assertEqual(now()["steps_left"], -1)
                self.server.post(f"/v1/runs/{run['id']}/stop")
                count = self.finish(run, "stopped")["sessions"][0]["runs"]
                # As often as was said, where that was.
                ended = self.finish(self.server.post("/v1/runs", {"page": page, "session": "run", "steps": 2}))
                self.assertEqual(ended["sessions"][0]["runs"], count + 2)

    def test_progress_of_an_ended_run_after_a_reload(self):
        page, _ = self.open()
        for which in range(2):
            socket = self.connect(page)
            socket.call("subscribe", topic="run", page=page, blocks=True, interval_ms=16)
            if which == 0:
                self.finish(self.server.post("/v1/runs", {"page": page, "steps": 20}))
            seen = {}
            while seen.get("loss", {}).get("run") != 20:
                seen |= socket.wait("run.tick")["blocks"]
            self.assertEqual(seen["loss"]["progress"], "ended")
            socket.close()

    def test_timings(self):
        page, path = self.open()
        socket = self.connect()
        socket.call("subscribe", topic="run", page=page, timings=True)
        self.finish(self.server.post("/v1/runs", {"page": page, "steps": 50}))
        self.finish(self.server.post("/v1/runs", {"page": page, "steps": 50}))
        times = self.server.get(path + "/timings")
        self.assertGreater(times["blocks"]["x_w1"]["ns"], 0)
        self.assertTrue(math.isclose(sum(each["share"] for each in times["blocks"].values()), 1, abs_tol=1e-6))

    def test_a_session_added_by_an_edit_runs(self):
        page, path = self.open(text=counter(), name="counter")
        self.finish(self.server.post("/v1/runs", {"page": page}))
        self.server.call("PATCH", path, {"edits": [{"op": "add", "block": block("second", "ClientSession", fetch_outputs=["n.ref"])}]})
        run = self.finish(self.server.post("/v1/runs", {"page": page}))
        self.assertEqual([each["id"] for each in run["sessions"]], ["run", "second"])
        run = self.finish(self.server.post("/v1/runs", {"page": page, "session": "second"}))
        self.assertEqual(run["target"], "session")

    def test_subscriptions_and_breakpoints_follow_edits(self):
        page, path = self.open()
        socket = self.connect()
        sub = socket.call("subscribe", topic="value", page=page, name="loss.output", interval_ms=0)["sub"]
        self.server.post(path + "/breakpoints", {"kind": "before", "block": "loss", "enabled": False}, headers={"Weft-Client": socket.client})
        self.finish(self.server.post("/v1/runs", {"page": page}))
        self.assertEqual(socket.wait_frame()["name"], "loss.output")
        self.server.call("PATCH", path, {"edits": [{"op": "rename", "block": "loss", "to": "cost"}]})
        self.finish(self.server.post("/v1/runs", {"page": page}))
        frame = socket.wait_frame()
        self.assertEqual((frame["sub"], frame["name"]), (sub, "cost.output"))
        self.assertEqual(self.server.get(path + "/breakpoints")["breakpoints"][0]["block"], "cost")
        self.server.call("PATCH", path, {"edits": [{"op": "remove", "block": "cost"}, {"op": "set", "block": "run", "key": "note", "value": "x"}]})
        run = self.server.post("/v1/runs", {"page": page})
        self.server.post(path + "/undo")
        self.server.wait_for_run(run["id"])
        self.finish(self.server.post("/v1/runs", {"page": page}))
        self.assertEqual(socket.wait_frame()["sub"], sub)

    def test_all_names_of_an_edit_are_renamed_at_once(self):
        page, path = self.open(text=counter(), name="counter")
        socket = self.connect(page)
        mine = {"Weft-Client": socket.client}
        socket.call("subscribe", topic="value", page=page, name="n.ref", session="run", interval_ms=0)
        socket.call("subscribe", topic="summaries", page=page, names=["n.ref"], interval_ms=16)
        self.finish(self.server.post("/v1/runs", {"page": page}))
        self.assertEqual(socket.wait_frame()["name"], "n.ref")
        self.assertIn("n.ref", socket.wait("values")["values"])
        point = self.server.post(path + "/breakpoints", {"kind": "condition", "condition": "n.ref >= 2"}, headers=mine)
        before = self.server.post(path + "/breakpoints", {"kind": "before", "block": "n", "enabled": False}, headers=mine)
        for _ in range(2):
            socket.wait("breakpoints")
        # "n" and "up" change places, and the session has another id.
        swap = [("n", "t"), ("up", "n"), ("t", "up"), ("run", "train")]
        self.server.call("PATCH", path, {"edits": [{"op": "rename", "block": old, "to": new} for old, new in swap]})
        points = self.server.get(path + "/breakpoints")["breakpoints"]
        self.assertEqual([(each["id"], each["condition"], each["block"]) for each in points], [(point["id"], "up.ref >= 2", None), (before["id"], None, "up")])
        self.assertEqual(socket.wait("breakpoints")["breakpoints"], points)
        run = self.server.post("/v1/runs", {"page": page, "session": "train", "steps": 3})
        session = self.server.wait_for_run(run["id"], "paused")["sessions"][0]
        self.assertEqual((session["id"], session["runs"], session["pause"]["breakpoint"]), ("train", 2, point["id"]))
        self.assertEqual(socket.wait_frame()["name"], "up.ref")
        self.assertEqual(list(socket.wait("values")["values"]), ["up.ref"])
        self.server.call("DELETE", f"{path}/breakpoints/{point['id']}")
        self.server.post(f"/v1/runs/{run['id']}/resume")
        self.finish(run)

    def test_breakpoints_wait_for_a_session_under_the_names_of_the_page(self):
        page, path = self.open()
        socket = self.connect()
        mine = {"Weft-Client": socket.client}
        self.server.call("PATCH", path, {"edits": [{"op": "disconnect", "to": "squared.x"}]})
        self.server.post(path + "/breakpoints", {"kind": "condition", "condition": "loss.output < 1e9"}, headers=mine)
        self.server.call("PATCH", path, {"edits": [{"op": "rename", "block": "loss", "to": "cost"}]})
        self.assertEqual(self.server.get(path + "/breakpoints")["breakpoints"][0]["condition"], "cost.output < 1e9")
        self.server.call("PATCH", path, {"edits": [{"op": "connect", "from": "error.z", "to": "squared.x"}]})
        run = self.server.post("/v1/runs", {"page": page})
        pause = self.server.wait_for_run(run["id"], "paused")["sessions"][0]["pause"]
        self.assertIn(": cost.output is 0.", pause["text"])
        self.server.post(f"/v1/runs/{run['id']}/resume")
        self.finish(run)

    def test_each_value_in_batches(self):
        page, path = self.open()
        socket = self.connect()
        socket.call("subscribe", topic="value", page=page, name="loss.output", reduction="each", interval_ms=0, pending=4096, batch=True)
        self.finish(self.server.post("/v1/runs", {"page": page, "steps": 2000}))
        runs, losses = [], []
        while len(runs) < 2000:
            frame = socket.wait_frame()
            self.assertEqual((frame["type"], frame["dropped"]), ("samples", 0))
            values, numbers = frame["tensors"]
            self.assertEqual((values["shape"], numbers["shape"]), ([frame["count"]], [frame["count"]]))
            losses += values["data"]
            runs += numbers["data"]
        self.assertEqual(runs, list(range(1, 2001)))
        self.assertLess(losses[-1], losses[0])

    def test_replay_and_gap(self):
        page, path = self.open()
        for step in range(5):
            self.server.call("PATCH", path, {"edits": [{"op": "move", "block": "x", "layout": [step, step]}]})
        socket = self.connect()
        answer = socket.call("subscribe", topic="page", page=page, from_seq=3)
        self.assertEqual((answer["gap"], answer["seq"]), (False, 10))
        self.assertEqual([socket.wait("page.changed")["seq"] for _ in range(4)], [3, 5, 7, 9])
        for step in range(600):
            self.server.call("PATCH", path, {"edits": [{"op": "move", "block": "x", "layout": [step, 0]}]})
        other = self.connect()
        self.assertTrue(other.call("subscribe", topic="page", page=page, from_seq=3)["gap"])

    def test_two_clients_see_each_other(self):
        page, path = self.open()
        first, second = self.server.socket(), self.server.socket()
        self.addCleanup(first.close)
        self.addCleanup(second.close)
        first.call("subscribe", topic="page", page=page)
        second.call("subscribe", topic="page", page=page)
        self.assertEqual(len(first.wait("clients", clients=[{"id": first.client, "name": "test"}, {"id": second.client, "name": "test"}])["clients"]), 2)
        self.server.call("PATCH", path, {"edits": [{"op": "move", "block": "x", "layout": [1, 1]}]}, headers={"Weft-Client": first.client})
        self.assertEqual(second.wait("page.changed")["change"]["by"], first.client)
        self.assertTrue(second.wait("pages", pages=self.server.get("/v1/pages")["pages"]))


if __name__ == "__main__":
    unittest.main()
