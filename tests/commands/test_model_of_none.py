"""--model names the row of a public .pth; where no file is named it is refused, and not left unheard."""

from __future__ import annotations

import pytest

from dcnbio.commands.app import run


@pytest.mark.parametrize("analysis", ["scales", "completion", "contrast"])
def test_a_row_without_a_file_is_refused(analysis, capsys):
    assert run(["analyze", analysis, "--model", "dcn-full"]) == 2
    assert "--model is dcn-full, and no .pth is named that it could be the row of; name one." in capsys.readouterr().err
