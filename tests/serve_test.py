#!/usr/bin/env python3
"""Tests of `weft serve` from outside: the real program on a free port. Needs a build (build/release, or $WEFT_BUILD); works offline.
Arguments: names of tests, as unittest takes them. Last line: serve: N tests, M failed."""
import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent / "serve"
sys.path.insert(0, str(FOLDER))


def main():
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(sys.argv[1:]) if len(sys.argv) > 1 else loader.discover(str(FOLDER), pattern="*_test.py")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"serve: {result.testsRun} tests, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
