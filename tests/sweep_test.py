#!/usr/bin/env python3
"""Tests of `weft sweep` from outside: processes that are killed and go on, Dask, the recipes of docs/scale.md. Needs a build (build/release, or
$WEFT_PROGRAM); works offline. Arguments: names of tests, as unittest takes them; --scale: also those that take minutes or start a scheduler.
Last line: sweep: N tests, M failed."""
import os
import sys

import folder_tests

if __name__ == "__main__":
    if "--scale" in sys.argv:
        os.environ["WEFT_SCALE"] = "1"
    sys.exit(folder_tests.main("sweep", [name for name in sys.argv[1:] if name != "--scale"]))
