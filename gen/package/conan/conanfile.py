"""Conan's recipe: `conan create gen/package/conan` in the repository's top folder. It takes the system's OpenCL."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


class Ipt(ConanFile):
    name = "ipt"
    license = "MIT"
    description = "In-place transposition on OpenCL devices"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def set_version(self):
        number = int(re.search(r"^#define IPT_VERSION (\d+)$", load(self, os.path.join(ROOT, "ipt.h")), re.M)[1])
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def export_sources(self):
        for pattern in ("ipt.h", "ipt_kernels.h", "LICENSE", "gen/cmake/*", "gen/package/ipt.c"):
            copy(self, pattern, ROOT, self.export_sources_folder)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["IPT_INSTALL"] = True
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder="gen/cmake")
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["ipt"]
        self.cpp_info.system_libs = ["OpenCL"] + (["pthread", "dl"] if self.settings.os == "Linux" else [])
        self.cpp_info.set_property("cmake_file_name", "ipt")
        self.cpp_info.set_property("cmake_target_name", "ipt::ipt_shared" if self.options.shared else "ipt::ipt_static")
