"""The examples check their own results."""
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "gen" / "python" / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_finds_its_result_right(example):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout == f"{example.stem}: right\n", done.stderr


def test_all_are_there():
    assert len(EXAMPLES) == 3
