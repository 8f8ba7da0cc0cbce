"""Archives of arrays: what NumPy writes is read to the bit, and nothing else is."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from gpbe.errors import InputError
from gpbe.files.npz import parse_npy, read_npz


def npy(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(5, dtype=">i4"),
        np.float32(0.1),
        np.zeros((3, 0, 2)),
        np.array([True, False]),
        np.array(["ä", "left right"]),
        np.array("a name"),
        np.array([1 + 2j]),
    ],
)
def test_what_numpy_writes_is_read_to_the_bit(array):
    read = parse_npy(npy(array), "x")
    assert read.dtype == np.asarray(array).dtype.newbyteorder("=")
    assert read.shape == np.shape(array)
    np.testing.assert_array_equal(read, array)


def test_names_are_refused_before_anything_is_unpacked(tmp_path, refuses):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("unknown.npy", bytes(2**26))

    def check(names):
        raise InputError(f"has {names[0]}")

    tracemalloc.start()
    try:
        refuses(lambda: read_npz(tmp_path / "x.npz", check), "has unknown")
        refuses(lambda: read_npz(tmp_path / "x.npz", lambda names: None, most=2**25), "has 64 MiB; .* 32 MiB at most")
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def test_two_arrays_of_one_name_are_refused(tmp_path, refuses):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", npy(np.ones(1)))
        archive.writestr("x", npy(np.zeros(1)))
    refuses(lambda: read_npz(tmp_path / "x.npz", lambda names: None), "two arrays of one name")
