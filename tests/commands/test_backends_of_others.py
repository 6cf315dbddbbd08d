"""``dcnbio figures`` draws without a display and whatever MPLBACKEND says, or says what is wrong with it."""

from __future__ import annotations

import os
import subprocess
import sys


def drawn(folder, backend):
    env = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    code = "import sys; from dcnbio.commands.app import run; sys.exit(run(sys.argv[1:]))"
    arguments = ["figures", "dcn-ode", "--only", "architecture", "--out", str(folder / "figures"), "--formats", "svg"]
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**env, "MPLBACKEND": backend},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_backend_that_needs_a_display_is_left_alone(tmp_path):
    done = drawn(tmp_path, "TkAgg")
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "figures" / "architecture.svg").read_text(encoding="utf-8")


def test_a_backend_that_is_none_is_named_with_the_fix(tmp_path):
    done = drawn(tmp_path, "nonsense")
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1] == (
        "dcnbio: MPLBACKEND is 'nonsense', which matplotlib does not know; unset it, for dcnbio draws without a "
        "display, or set it to agg"
    )
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "figures").exists()
