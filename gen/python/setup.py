"""Builds the package: ipt.h is compiled into the extension module ipt._ipt. pyproject.toml has the rest."""
import re
import sys
from pathlib import Path

from setuptools import setup

sys.path.insert(0, str(Path(__file__).resolve().parent))
from interface import HEADERS  # noqa: E402

number = int(re.search(r"^#define IPT_VERSION (\d+)$", (HEADERS / "ipt.h").read_text(encoding="utf-8"), re.M)[1])

setup(
    version=f"{number // 10000}.{number // 100 % 100}.{number % 100}",
    cffi_modules=["interface.py:builder"],
)
