"""A recording that was read is read on by forked processes, as those of a DataLoader; none waits for ever."""

import sys

import pytest

SCRIPT = """
import multiprocessing
import sys

from dcnbio.recording import open_recording

h = open_recording(sys.argv[1])["block1"]["h"]

def total(i):
    return float(h[i].sum())

if __name__ == "__main__":
    before = [total(i) for i in range(4)]  # the threads that read are there now, and a fork does not take them along
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(total, range(4)) == before
    print("the same")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not forked here")
def test_forked_processes_read_what_was_read_before(run, write, tmp_path, start_python):
    write(tmp_path / "run.zarr", run.layout())
    process = start_python(SCRIPT, str(tmp_path / "run.zarr"))
    try:
        said, complaint = process.communicate(timeout=60)
    finally:
        process.kill()
    assert said.strip() == "the same", complaint
