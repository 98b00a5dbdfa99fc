"""Puts libweft.so into the wheel, and the processor's name on it.

The libraries are taken from $WEFT_LIBRARY_DIR (build/release/lib beside this folder where that is not set), those of the glibc-hwcaps
folders below included; and those of messages between the processes of a job, where they are built.
"""
import os
import pathlib
import re
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent
SONAME, OPENED = "libweft.so.1", "libweft-python.so"


def library_folder() -> pathlib.Path:
    folder = pathlib.Path(os.environ.get("WEFT_LIBRARY_DIR") or HERE.parent / "build/release/lib").resolve()
    for name in (SONAME, OPENED):
        if not (folder / name).is_file():
            raise SystemExit(f"{folder / name} is missing: tools/wheel builds it; WEFT_LIBRARY_DIR names another folder")
    return folder


def version() -> str:
    """The project's, from $WEFT_VERSION or the CMakeLists.txt beside this folder."""
    return os.environ.get("WEFT_VERSION") or re.search(r"project\(weft VERSION ([0-9.]+)", (HERE.parent / "CMakeLists.txt").read_text())[1]


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        source, target = library_folder(), pathlib.Path(self.build_lib) / "weft/lib"
        for library in [source / SONAME, source / OPENED, *source.glob("glibc-hwcaps/*/" + SONAME), *source.glob("libweft_mpi*.so")]:
            place = target / library.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(library, place)


class PlatformWheel(bdist_wheel):
    """Any Python 3, this kind of machine: the library is the only thing that is compiled."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=BinaryDistribution, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
