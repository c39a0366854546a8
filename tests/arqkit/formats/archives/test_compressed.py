"""Packed files as bytes."""

import bz2
import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.formats.archives.compressed import DamagedFileError, read_pieces

TEXT = b"".join(b"%d,%d\n" % (number, number * 7919 % 10007) for number in range(20_000))


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, bz2.compress, lambda data: gzip.compress(data) * 2]
)
@pytest.mark.parametrize("size", [1_000, 1_000_000])
def test_the_bytes_come_whole_in_pieces(tmp_path: Path, pack: object, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(pack(TEXT))
    found = list(read_pieces(path, size=size))

    assert b"".join(found) in (TEXT, TEXT * 2)
    assert max(map(len, found)) < size + 300_000


@settings(max_examples=20)
@given(st.integers(20, len(gzip.compress(TEXT)) - 1))
def test_a_cut_file_gives_the_rows_before_the_cut(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "file.gz"
    path.write_bytes(gzip.compress(TEXT)[:cut])
    found: list[bytes] = []
    with pytest.raises(DamagedFileError, match="a gzip file that is truncated"):
        found.extend(read_pieces(path, size=5_000))

    assert TEXT.startswith(b"".join(found))
    assert len(b"".join(found)) > (cut - 20_000) * 2


def test_an_empty_file_has_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert b"".join(read_pieces(tmp_path / "file")) == b""
