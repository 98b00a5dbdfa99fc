#!/usr/bin/env python3
"""Tests of `weft serve` from outside: the real program on a free port. Needs a build (build/release, or $WEFT_BUILD); works offline.
Arguments: names of tests, as unittest takes them. Last line: serve: N tests, M failed."""
import sys

import folder_tests

if __name__ == "__main__":
    sys.exit(folder_tests.main("serve", sys.argv[1:]))
