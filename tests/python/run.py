#!/usr/bin/env python3
"""Runs the tests of the Python package beside this file, with the package that is installed. Last line: python: N tests, M failed."""
import pathlib
import sys
import unittest

here = str(pathlib.Path(__file__).parent)
sys.path.insert(0, here)
result = unittest.TextTestRunner(verbosity=0).run(unittest.TestLoader().discover(here, "*_test.py"))
bad = len(result.failures) + len(result.errors)
print(f"python: {max(result.testsRun, bad)} tests, {bad} failed")
sys.exit(bad > 0)
