"""The script of the page on clusters that starts processes of its own: it ends, whatever its parent computed before."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dcnbio

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_spawned_processes_run_networks_after_their_parent_did(tmp_path: Path) -> None:
    page = (ROOT / "docs/how_to/cluster.md").read_text(encoding="utf-8")
    section = page.partition("## Processes of your own")[2].partition("\n## ")[0]
    script = re.search(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[1]
    begin = 'if __name__ == "__main__":\n'
    assert begin in script
    # as a user's session would have: a fork hangs after this
    file = tmp_path / "many.py"
    file.write_text(
        script.replace(begin, f"{begin}    before = [accuracy(mask) for mask in (6, 14)]\n") + "    print(before)\n"
    )
    done = subprocess.run(
        [sys.executable, str(file)],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": str(Path(dcnbio.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pooled, alone = done.stdout.split("\n")[:2]
    assert pooled == alone
