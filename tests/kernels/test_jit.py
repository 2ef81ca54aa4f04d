"""Compiled code on disk belongs to what it was compiled for, whoever writes at the same time."""

from __future__ import annotations

from partita._kernels._jit import _SharedCacheFile


def interleaved(kind, folder):
    """Two processes that begin with an empty index, the second one's files written in between."""
    first, second = (kind(str(folder), "kernel", "stamp") for _ in range(2))
    first._load_index = second._load_index = dict
    write = first._save_data

    def late(name, data):
        second.save("uint16", "code for uint16")
        write(name, data)

    first._save_data = late
    first.save("uint8", "code for uint8")
    reader = kind(str(folder), "kernel", "stamp")
    return {key: reader.load(key) for key in ("uint8", "uint16")}


def test_no_code_is_found_under_the_wrong_key(tmp_path):
    for key, code in interleaved(_SharedCacheFile, tmp_path).items():
        assert code in (None, f"code for {key}")


def test_which_is_what_numba_alone_would_do(tmp_path):
    """If this fails numba has mended it, and the class can go."""
    (plain,) = _SharedCacheFile.__bases__
    assert interleaved(plain, tmp_path)["uint16"] == "code for uint8"
