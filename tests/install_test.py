#!/usr/bin/env python3
"""Weft as others get it: installed into a folder, built against by pkg-config and by CMake, as a Python package in a fresh environment,
and in three hosts whose results agree bit for bit. Needs a build (build/release, or $WEFT_BUILD); works offline.
Last line: install: N tests, M failed."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "serve"))
from client import Server

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("WEFT_BUILD") or ROOT / "build/release")
PYTHON = "/usr/bin/python3"
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
folder = prefix = venv = python_tests = None


def run(*command, **options):
    """A command's output; what it said is part of the failure."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def setUpModule():
    global folder, prefix, venv
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-install-"))
    prefix, venv = folder / "prefix", folder / "clone/env"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    # The Python package as python/README.md says, in a copy of what that needs of a clone.
    clone = venv.parent
    shutil.copytree(ROOT / "python", clone / "python", ignore=shutil.ignore_patterns("__pycache__"))
    (clone / "tools").mkdir()
    for name in ("CMakeLists.txt", "tools/wheel", "tools/setup.sh", "tools/packages.txt"):
        shutil.copy(ROOT / name, clone / name)
    system = f"{pathlib.Path(PYTHON).parent}:{os.environ['PATH']}"
    run("bash", "-euc", install_commands("python/README.md"), cwd=clone, env={**os.environ, "PATH": system, "WEFT_LIBRARY_DIR": str(BUILD / "lib")})
    # The project in tests/install, by what the installed CMake package says.
    run("cmake", "-S", ROOT / "tests/install", "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "build")


def tearDownModule():
    shutil.rmtree(folder, ignore_errors=True)


def pkg_config(*options):
    return run("pkg-config", *options, "weft", env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).split()


def readme_part(mark, language):
    """A part of README.md, by the comment before it."""
    return re.search(rf"<!-- {mark} -->\n```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1]


def install_commands(guide):
    """The commands by which a guide installs the Python package, without their comments."""
    commands = re.search(r"```sh\n(python3 -m venv .*?)```", (ROOT / guide).read_text(), re.S)[1]
    return re.sub(r" +# .*", "", commands)


def declared():
    """The functions that the headers of the C interface declare."""
    headers = [prefix / "include/weft.h", *(prefix / "include/weft/capi").glob("*.h")]
    return sorted(name for header in headers for name in re.findall(r"^WEFT_API [^;(]*?(\w+)\(", header.read_text(), re.M))


class LibraryTest(unittest.TestCase):
    def test_exported_symbols(self):
        table = run("nm", "-D", "--defined-only", prefix / "lib/libweft.so")
        exported = sorted(line.split()[-1].split("@")[0] for line in table.splitlines())
        listed = (ROOT / "tests/capi/symbols.txt").read_text().split()
        self.assertEqual(exported, listed, "tests/capi/symbols.txt lists what libweft.so exports")
        self.assertEqual(exported, declared())

    def test_name_and_needs(self):
        dynamic = run("readelf", "-d", prefix / "lib/libweft.so")
        self.assertIn("[libweft.so.1]", dynamic)
        self.assertEqual({(prefix / "lib" / name).resolve() for name in ("libweft.so", "libweft.so.1")},
                         {(prefix / "lib/libweft.so.1.1").resolve()})
        self.assertNotIn("RPATH", dynamic)
        self.assertNotIn("RUNPATH", dynamic)

    def test_messages(self):
        """The libraries of messages lie beside libweft.so, which does not need them: a runtime opens the one of its launcher."""
        self.assertNotIn("mpi", run("readelf", "-d", prefix / "lib/libweft.so"))
        program = "import weft; print(weft.Runtime(messages='auto').message_library)"
        for library, launcher in (("libweft_mpi.so", ["mpirun.openmpi", "--allow-run-as-root"]), ("libweft_mpi_mpich.so", ["mpirun.mpich"])):
            if not (BUILD / "lib" / library).exists():
                continue
            self.assertEqual(run("nm", "-D", "--defined-only", prefix / "lib" / library).split()[-1], "weft_messages")
            if shutil.which(launcher[0]):
                self.assertIn("MPI", run(*launcher, "-n", "1", venv / "bin/python", "-c", program))

    def test_headers_stand_alone(self):
        """Each part of weft.h compiles by itself as C99 and as C++, without a warning."""
        headers = [prefix / "include/weft.h", *(prefix / "include/weft/capi").glob("*.h")]
        for header in sorted(path.relative_to(prefix / "include") for path in headers):
            text = f"#include <{header}>\nint main(void) {{ return 0; }}\n"
            include = ["-fsyntax-only", *WARNINGS, "-Wshadow", "-Wconversion", "-I", prefix / "include", "-"]
            run("gcc", "-xc", "-std=c99", "-Wstrict-prototypes", *include, input=text)
            run("g++", "-xc++", "-std=c++11", *include, input=text)

    def test_cxx_headers_are_complete(self):
        """The public C++ headers need no file that is not installed."""
        headers = sorted(path.relative_to(prefix / "include") for path in (prefix / "include/weft").rglob("*.h"))
        text = "".join(f"#include <{header}>\n" for header in headers)
        run("g++", "-xc++", "-std=c++20", "-fsyntax-only", "-I", prefix / "include", "-isystem", "/usr/include/eigen3", "-", input=text)

    def test_schemas_and_documentation(self):
        """An editor finds the palette and the schemas beside the library, a reader the guides."""
        schemas = pathlib.Path(pkg_config("--variable=schemas")[0])
        self.assertEqual({path.name for path in schemas.iterdir()}, {"page.schema.json", "case.schema.json", "sweep.schema.json", "blocks.json", "codes.json"})
        self.assertEqual((schemas / "blocks.json").read_text(), run(prefix / "bin/weft", "blocks", "--json"))
        wire = json.loads((schemas / "page.schema.json").read_text())["$defs"]["wire"]
        self.assertIn("ID.operation", wire["description"])
        documentation = prefix / "share/doc/weft"
        for name in ("README.md", "LICENSE", "docs/embedding.md", "docs/embedding-ranks.md", "docs/architecture.md", "python/README.md"):
            self.assertTrue((documentation / name).is_file(), name)

    def test_program(self):
        self.assertIn("0.1", run(prefix / "bin/weft", "--version"))

    def test_program_serves(self):
        """The server and what it shows in a browser are in the program: nothing beside it is needed."""
        with Server(str(prefix / "bin/weft"), str(ROOT / "graphs"), "--read-only", env={"XDG_STATE_HOME": str(folder)}) as server:
            self.assertEqual(server.get("/v1/info")["folder"], "graphs")
            status, headers, page = server.call("GET", "/", raw=True, token=False)
            self.assertEqual((status, headers["Content-Type"].split(";")[0]), (200, "text/html"))
            self.assertIn(b"Weft", page)
            self.assertIn("xor", [each["name"] for each in server.get("/v1/examples")["examples"]])

    def test_cxx_engine(self):
        said = run(folder / "build/engine", ROOT / "graphs/bias_add_grad.page.json", "db_nhwc.output")
        self.assertEqual(re.findall(r"\d+", said.split("{")[-1]), ["22", "26", "30"])


class PkgConfigTest(unittest.TestCase):
    def build(self, source, program):
        run("gcc", "-std=c99", *WARNINGS, source, "-o", program, *pkg_config("--cflags", "--libs"), f"-Wl,-rpath,{prefix / 'lib'}")

    def test_host(self):
        self.build(ROOT / "tests/capi/hosts/host.c", folder / "host")
        page = ROOT / "graphs/bias_add_grad.page.json"
        self.assertEqual(run(folder / "host", page), run(folder / "build/host", page))

    def test_host_is_short(self):
        self.assertLess(len((ROOT / "tests/capi/hosts/host.c").read_text().splitlines()), 150)

    def test_readme_example(self):
        example, page = readme_part("c", "c"), readme_part("page", "json")
        (folder / "first.c").write_text(example)
        (folder / "line.page.json").write_text(page)
        self.build(folder / "first.c", folder / "first")
        self.assertIn("w is 2", run(folder / "first", cwd=folder))
        (folder / "line.page.json").write_text(page.replace('"wx.z"', '"wy.z"'))
        done = subprocess.run([folder / "first"], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no block 'wy'", done.stderr)

    def test_guides(self):
        """The programs in docs/embedding.md and docs/embedding-ranks.md compile as they stand there, and print what stands there."""
        (folder / "line.page.json").write_text(readme_part("page", "json"))
        for name in ("embedding", "embedding-ranks"):
            guide = (ROOT / f"docs/{name}.md").read_text()
            (folder / f"{name}.c").write_text("\n".join(re.findall(r"<!-- c -->\n```c\n(.*?)```", guide, re.S)))
            self.build(folder / f"{name}.c", folder / name)
            self.assertEqual(run(folder / name, cwd=folder), re.search(r"<!-- prints -->\n```\n(.*?)```", guide, re.S)[1])

    def test_library_of_blocks(self):
        """The example of a library of blocks, as the guide builds and tests it; and from Python."""
        source, library = ROOT / "tests/capi/hosts/blocks.c", folder / "libblocks.so"
        run("cc", "-std=c99", *WARNINGS, "-shared", "-fPIC", source, "-o", library, *pkg_config("--cflags"))
        said = run(prefix / "bin/weft", "test", "--library", library, ROOT / "tests/capi/hosts/cases")
        self.assertRegex(said.splitlines()[-1], r"^[1-9][0-9]* passed, 0 failed")
        program = ("import sys, weft\nwith weft.Runtime() as runtime:\n  runtime.add_library(sys.argv[1])\n"
                   "  print(runtime.test(sys.argv[2]).passed, runtime.block('Scale')['category'])\n")
        passed = run(venv / "bin/python", "-c", program, library, ROOT / "tests/capi/hosts/cases").split()[0]
        self.assertTrue(said.splitlines()[-1].startswith(passed + " passed"))

    def test_version(self):
        version = re.search(r"project\(weft VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(pkg_config("--modversion"), [version])


class HostsTest(unittest.TestCase):
    maxDiff = None

    def test_same_bits(self):
        """Every sample page, by three hosts: not a bit differs."""
        graphs = shutil.copytree(ROOT / "graphs", folder / "graphs", ignore=shutil.ignore_patterns("*.ckpt*"))  # one of them writes
        pages = sorted(graphs.glob("*.page.json"))
        hosts = {"C99": [folder / "build/host"], "C++": [folder / "build/loop_host"],
                 "Python": [venv / "bin/python", ROOT / "tests/capi/hosts/host.py"]}
        digests = {language: run(*host, "--write", graphs, *pages).splitlines() for language, host in hosts.items()}
        self.assertEqual(len(digests["C99"]), len(pages))
        self.assertEqual(digests["C++"], digests["C99"])
        self.assertEqual(digests["Python"], digests["C99"])
        self.assertEqual(len(set(line.split()[1] for line in digests["C99"])), len(pages), "the digests tell pages apart")


class BenchmarkTest(unittest.TestCase):
    def test_reader(self):
        """tools/bench_reader tells what a reader costs: not whether it is little, which no busy machine can tell."""
        lines = run(ROOT / "tools/bench_reader", "--library", prefix / "lib", "--pages", "xor", "--seconds", "0.6", "--read", "views,touch").splitlines()
        self.assertEqual(len(lines), 4)
        for line, read in zip(lines[2:], ("views", "touch")):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            self.assertEqual((cells[0], cells[1]), (f"xor, {read}", "23"))
            done, asked = map(int, cells[3].split(" of "))
            self.assertEqual(asked, 30)
            self.assertGreater(done, 0)
            self.assertRegex(cells[5], r"^[-+][0-9.]+ % \([-+][0-9.]+ to [-+][0-9.]+\)$")


class PythonTest(unittest.TestCase):
    def test_install_commands(self):
        """Both guides say how the package was installed here; it is that of the environment, not of the clone beside it."""
        self.assertEqual(install_commands("README.md"), install_commands("python/README.md"))
        said = run(venv / "bin/python", "-c", "import weft; print(weft.__file__)", cwd=folder)
        self.assertTrue(pathlib.Path(said.strip()).is_relative_to(venv), said)

    def test_package(self):
        """The tests in tests/python, by the package in the fresh environment."""
        global python_tests
        done = subprocess.run([venv / "bin/python", "-B", ROOT / "tests/python/run.py"], capture_output=True, text=True, timeout=300,
                              cwd=folder, env={**os.environ, "WEFT_PREFIX": str(prefix)})
        last = done.stdout.splitlines()[-1] if done.stdout else ""
        found = re.fullmatch(r"python: (\d+) tests, (\d+) failed", last)
        python_tests = int(found[1]) if found else 0
        self.assertTrue(found and done.returncode == 0, done.stdout + done.stderr)

    def test_readme_example(self):
        (folder / "line.page.json").write_text(readme_part("page", "json"))
        self.assertAlmostEqual(float(run(venv / "bin/python", "-c", readme_part("python", "python"), cwd=folder)), 2, places=2)

    def test_guide(self):
        """The parts of python/README.md are one program."""
        (folder / "line.page.json").write_text(readme_part("page", "json"))
        guide = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "python/README.md").read_text(), re.S))
        self.assertIn("guide done", run(venv / "bin/python", "-W", "error", "-c", guide, cwd=folder))

    def test_sweep(self):
        """python -m weft.sweep of the installed package; on this machine, where no cluster is named."""
        (folder / "line.page.json").write_text(readme_part("page", "json"))
        grid = folder / "line.grid.json"
        grid.write_text('{"sweep": 1, "page": "line.page.json", "grid": [{"set": "w.initvalues", "values": [1, 2, 3]}]}')
        said = run(venv / "bin/python", "-m", "weft.sweep", grid, "--weft", prefix / "bin/weft", "--table", folder / "line.csv")
        self.assertIn("3 of 3 points done", said)
        self.assertEqual((folder / "line.csv").read_text().count("\n"), 4)

    def test_wheel_is_whole(self):
        names = run(PYTHON, "-m", "zipfile", "-l", next((folder / "clone/out").glob("weft-*.whl")))
        for name in ("weft/__init__.py", "weft/blocks.py", "weft/py.typed", "weft/lib/libweft.so.1", "weft/lib/libweft-python.so"):
            self.assertIn(name, names)
        for library in (BUILD / "lib").glob("libweft_mpi*.so"):
            self.assertIn(f"weft/lib/{library.name}", names)

    def test_wheel_of_a_package(self):
        """Where libraries for several levels of processors lie beside, the wheel has them, and the loader takes the highest that runs here."""
        libraries, target = folder / "package/lib", folder / "package/site"
        levels = libraries / "glibc-hwcaps/x86-64-v2"
        levels.mkdir(parents=True)
        for name, place in (("libweft.so.1", libraries), ("libweft-python.so", libraries), ("libweft.so.1", levels)):
            run("strip", "-o", place / name, (BUILD / "lib" / name).resolve())
        wheel = run(ROOT / "tools/wheel", folder / "package", env={**os.environ, "WEFT_LIBRARY_DIR": str(libraries)}).splitlines()[-1]
        run(PYTHON, "-m", "zipfile", "-e", wheel, target)
        said = run(PYTHON, "-c", "import weft; print(weft.__version__, open('/proc/self/maps').read())", env={**os.environ, "PYTHONPATH": str(target)})
        self.assertIn(str(target / "weft/lib/glibc-hwcaps/x86-64-v2/libweft.so.1"), said)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"install: {max(result.testsRun, bad) + (python_tests or 0)} tests, {bad} failed")
    sys.exit(bad > 0)
