"""schemathesis against the description of the interface; tools/test installs it. $SCHEMATHESIS_EXAMPLES: how many calls of each kind it draws."""
import os
import shutil
import subprocess
import unittest

from client import PATIENCE
from kit import ServerTest

TOOL = os.environ.get("SCHEMATHESIS") or shutil.which("schemathesis")
EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "8")


class SchemaFuzz(ServerTest):
    options = ("--page-memory", "300M", "--memory", "1G")

    @unittest.skipUnless(TOOL, "schemathesis is not installed")
    def test_answers_are_as_described(self):
        self.open()
        address = f"http://{self.server.host}:{self.server.port}"
        # positive_data_acceptance is left out: what the schema allows may still be refused, as an edit of a block that the page does not have.
        done = subprocess.run([TOOL, "run", address + "/v1/openapi.json", "--url", address, "-H", "Authorization: Bearer " + self.server.token,
                               "--max-examples", EXAMPLES,
                               "--phases", "examples,coverage,fuzzing", "--exclude-checks", "positive_data_acceptance", "--workers", "2"],
                              capture_output=True, text=True, timeout=(240 + 10 * int(EXAMPLES)) * PATIENCE, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout[-5000:])


if __name__ == "__main__":
    unittest.main()
