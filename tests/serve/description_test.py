"""The description of the interface is that of the server."""
import json
import re
import unittest

from kit import ROOT, ServerTest


class Description(ServerTest):
    def test_every_route_is_described(self):
        described = self.server.get("/v1/openapi.json")
        self.assertEqual(described, json.loads((ROOT / "tools/serve/openapi.json").read_text()))
        calls = {(method.upper(), re.sub(r"\{\w+\}", "*", path)) for path, methods in described["paths"].items() for method in methods}
        routes = set()
        for file in (ROOT / "tools/serve").glob("api_*.cc"):
            routes |= set(re.findall(r'\{"([A-Z]+)", "(/v1/[^"]*)", Route::', file.read_text()))
        self.assertEqual(calls, routes)

    def test_every_route_is_in_the_protocol(self):
        text = (ROOT / "docs/protocol.md").read_text()
        for path in self.server.get("/v1/openapi.json")["paths"]:
            last = path.rstrip("/").split("/")[-1]
            self.assertIn(last if not last.startswith("{") else path.split("/")[2], text, path)

    def test_every_call_answers_nonsense(self):
        """No call is unknown, and none ends in a fault of the server."""
        for path, methods in self.server.get("/v1/openapi.json")["paths"].items():
            for method, call in methods.items():
                wanted = [each["name"] for each in call.get("parameters", []) if each["in"] == "query"]
                query = "?" + "&".join(f"{name}=%F0%9F%98%80" for name in wanted)
                bodies = [None] if "requestBody" not in call else [{}, {"page": 1, "path": [], "name": {}, "edits": 3, "value": [], "mode": None, "text": "{"}]
                for body in bodies:
                    with self.subTest(method=method, path=path, body=body):
                        is_file = "application/octet-stream" in call.get("requestBody", {}).get("content", {})
                        headers = {"Content-Type": "application/octet-stream"} if is_file else {}
                        status, _, answer = self.server.call(method.upper(), re.sub(r"\{\w+\}", "zz", path) + query, body, headers=headers, raw=True)
                        self.assertNotIn(status, (405, 500), answer)
                        if status == 404:
                            self.assertNotIn(b"there is no '/v1", answer)


if __name__ == "__main__":
    unittest.main()
