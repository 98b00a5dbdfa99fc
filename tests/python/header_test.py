"""The package's declarations are those of the C headers: structs byte for byte, functions by their names and numbers of parameters."""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from weft import _host, _native

INCLUDE = pathlib.Path(os.environ["WEFT_PREFIX"]) / "include"
STRUCTS = {"weft_diagnostic": _native.DiagnosticStruct, "weft_runtime_options": _native.RuntimeOptions,
           "weft_runtime_info": _native.RuntimeInfo, "weft_page_options": _native.PageOptions,
           "weft_page_run_options": _native.PageRunOptions, "weft_bytes": _native.Bytes,
           "weft_buffer": _native.Buffer, "weft_session_options": _native.SessionOptions, "weft_run_options": _native.RunOptions,
           "weft_session_info": _native.SessionInfo, "weft_view_info": _native.ViewInfo, "weft_event": _native.Event,
           "weft_events_options": _native.EventsOptions, "weft_subscription_options": _native.SubscriptionOptions,
           "weft_sample": _native.Sample, "weft_breakpoint_options": _native.BreakpointOptions,
           "weft_breakpoint_info": _native.BreakpointInfo, "weft_snapshot_options": _native.SnapshotOptions,
           "weft_job_info": _native.JobInfo, "weft_sharded_options": _native.ShardedOptions, "weft_sharded_info": _native.ShardedInfo,
           "weft_sharded_times": _native.ShardedTimes, "weft_snapshot_info": _native.SnapshotInfo, "weft_port_type": _native.PortType, "weft_result": _native.Result, **_host.STRUCTS}
DLPACK = {"weft_dl_managed_tensor": _native.DlManagedTensor, "weft_dl_tensor": _native.DlTensor}


class HeaderTest(unittest.TestCase):
    def test_structs(self):
        """Sizes, and each field's place and size, as a C compiler sees them."""
        lines = [f'printf("%zu\\n", sizeof({name}));' for name in [*STRUCTS, *DLPACK]]
        expected = [ctypes.sizeof(struct) for struct in [*STRUCTS.values(), *DLPACK.values()]]
        for name, struct in STRUCTS.items():
            for field, *_ in struct._fields_:
                lines.append(f'printf("%zu %zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));')
                place = getattr(struct, field)
                expected.append((place.offset, place.size))
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "sizes.c")
            source.write_text("#include <stdio.h>\n#include <weft.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
            subprocess.run(["gcc", "-I", INCLUDE, source, "-o", folder + "/sizes"], check=True)
            said = subprocess.run([folder + "/sizes"], check=True, capture_output=True, text=True).stdout.split("\n")
        found = [tuple(map(int, line.split())) if " " in line else int(line) for line in said if line]
        self.assertEqual(found, expected)

    def test_interface(self):
        """A library of an older interface is refused with its number and the one that is needed, before a function is missing."""
        number = int(re.search(r"#define WEFT_ABI_VERSION (0x[0-9a-f]+)", (INCLUDE / "weft/capi/base.h").read_text())[1], 16)
        major, minor = divmod(number, 1 << 16)
        self.assertEqual(_native.ABI, (major, minor))
        for found in ((major, minor - 1), (major + 1, minor), (major - 1, minor + 1)):
            with tempfile.TemporaryDirectory() as folder:
                library = folder + "/libother.so"
                source = f"unsigned weft_abi_version(void) {{ return {(found[0] << 16) + found[1]}u; }}\n"
                subprocess.run(["gcc", "-xc", "-", "-shared", "-fPIC", "-o", library], input=source, check=True, text=True)
                done = subprocess.run([sys.executable, "-c", "import weft"], capture_output=True, text=True, env={**os.environ, "WEFT_LIBRARY": library})
                self.assertIn(f"ImportError: {library} has interface {found[0]}.{found[1]}, this package needs {major}.{minor}", done.stderr)

    def test_every_function_is_offered(self):
        """But for those that Python does otherwise: types by numpy, texts and counts of holders by objects."""
        text = "\n".join(path.read_text() for path in [INCLUDE / "weft.h", *(INCLUDE / "weft/capi").glob("*.h")])
        declared = set(re.findall(r"^WEFT_API [^;(]*?(\w+)\(", text, re.M))
        self.assertEqual(declared - set(_native.FAILING) - set(_native.PLAIN), {
            "weft_diagnostics_text", "weft_dtype_name", "weft_dtype_size", "weft_view_retain"})
        package = "\n".join(path.read_text() for path in pathlib.Path(_native.__file__).parent.glob("*.py"))
        unused = {name for name in {*_native.FAILING, *_native.PLAIN} if len(re.findall(rf"\b{name}\b", package)) < 2}
        self.assertEqual(unused, {
            "weft_strings_get", "weft_strings_count",  # all texts are taken at once
            "weft_page_on_event", "weft_events_add_page", "weft_events_remove_page",  # sessions have the events that Python listens to
            "weft_page_read_file", "weft_page_write_file", "weft_page_file_path",  # blocks in Python open files themselves
            "weft_runtime_get_info", "weft_session_faults"})

    def test_functions(self):
        text = "\n".join(path.read_text() for path in [INCLUDE / "weft.h", *(INCLUDE / "weft/capi").glob("*.h")])
        declared = {name: parameters for name, parameters in re.findall(r"^WEFT_API [^;(]*?(\w+)\(([^;]*)\);", text, re.M)}
        for name, argtypes in _native.FAILING.items():
            parameters = declared[name].split(",")
            self.assertEqual(len(parameters), len(argtypes) + 1, name)
            self.assertIn("weft_diagnostics**", parameters[-1], name)
        for name, (_, *argtypes) in _native.PLAIN.items():
            parameters = [] if declared[name] == "void" else declared[name].split(",")
            self.assertEqual(len(parameters), len(argtypes), name)
