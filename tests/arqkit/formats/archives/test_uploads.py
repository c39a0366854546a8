"""Whatever is sent is unpacked within limits, or refused with a sentence for each problem."""

import gzip
import io
import subprocess
import sys
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.archives.uploads import (
    MAX_DIRECTORY_BYTES,
    MAX_MEMBERS,
    UploadRefusedError,
    unpack,
    zip_members,
)
from arqkit.records import Problem
from tests.paths import ROOT

RUN = b"A.1\t1\t1\t2.5\tt\n"


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def refusals(data: bytes, **limits: int) -> list[Problem]:
    with pytest.raises(UploadRefusedError) as refused:
        unpack(io.BytesIO(data), name="x", **limits)
    return list(refused.value.problems)


def unpacked(data: bytes, name: str = "x.tsv") -> list[tuple[str, bytes]]:
    return [(run.name, run.data) for run in unpack(io.BytesIO(data), name=name)]


@given(st.text("ab\t\n1é", min_size=1).map(str.encode))
def test_a_run_comes_out_as_it_went_in(data):
    assert unpacked(data) == [("x.tsv", data)]
    assert unpacked(gzip.compress(data), "x.tsv.gz") == [("x.tsv", data)]
    assert unpacked(zipped({"x.tsv": data})) == [("x.tsv", data)]


def test_a_zip_gives_every_file_and_takes_one_layer_of_gzip_off():
    data = zipped({"runs/a.tsv": RUN, "runs/b.tsv.gz": gzip.compress(RUN), "runs/": b""})

    assert unpacked(data) == [("a.tsv", RUN), ("b.tsv", RUN)]


def test_what_systems_add_to_a_zip_is_ignored():
    data = zipped({"a.tsv": RUN, "__MACOSX/._a.tsv": b"\0", ".DS_Store": b"\0", "._b": b"\0"})

    assert unpacked(data) == [("a.tsv", RUN)]


BAD = {
    "an empty file": b"",
    "a truncated gzip file": gzip.compress(RUN * 1000)[:-20],
    "a damaged gzip file": gzip.compress(RUN * 1000)[:30]
    + b"xxxxxxxxxxxx"
    + gzip.compress(RUN * 1000)[42:],
    "a zip without files, only folders": zipped({"runs/": b""}),
    "a zip without files": zipped({}),
    "a damaged zip": zipped({"a.tsv": RUN})[:-5],
    "an archive inside an archive": gzip.compress(gzip.compress(RUN)),
    "a PDF document": b"%PDF-1.7\n...",
    "a PNG picture": b"\x89PNG\r\n\x1a\n",
    "a 7z archive": b"7z\xbc\xaf\x27\x1c",
    "a RAR archive": b"Rar!\x1a\x07",
    "an old Office document": b"\xd0\xcf\x11\xe0\xa1\xb1",
    "an Office document": zipped({"[Content_Types].xml": b"<x/>", "xl/a.xml": b"<x/>"}),
    "a tar archive": b"a".ljust(257, b"\0") + b"ustar\0" + b"0" * 249,
    "text in UTF-16": "A.1\t1\t1\t2.5\tt\n".encode("utf-16"),
    "many null bytes": b"A.1\t1\t1\t2.5\tt\nA.1\t" + bytes(100),
    "more than 200,000 bytes in one line": b"A.1\t" + b"x" * 3_000_000,
    "more than 500,000 lines": b"A\n" * 600_000,
    "more than 16.0 MB when unpacked": gzip.compress((b"x" * 999 + b"\n") * 70_000, 1),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_upload_is_named_and_what_is_expected_is_said(kind):
    (problem,) = refusals(BAD[kind])

    assert problem.found.startswith(kind)
    assert problem.expected
    assert problem.todo.endswith(".")


@pytest.mark.parametrize("encoding", ["UTF-16", "UTF-16LE", "UTF-16BE"])
def test_text_in_utf_16_comes_with_the_command_that_converts_it(encoding):
    [problem] = refusals("A.1\t1\t1\n".encode(encoding))

    assert problem.found == "text in UTF-16"
    assert f"iconv -f {encoding} -t UTF-8." in problem.todo


def test_many_null_bytes_are_found_with_their_line():
    assert refusals(RUN * 10 + bytes(9999))[0].line == RUN.count(b"\n") * 10 + 1


def test_a_few_null_bytes_are_left_to_the_report():
    assert unpacked(RUN * 10_000 + b"A.1\t\0") == [("x.tsv", RUN * 10_000 + b"A.1\t\0")]


def test_every_bad_file_of_a_zip_is_named():
    data = zipped(
        {"good.tsv": RUN, "empty.tsv": b"", "paper.pdf": b"%PDF", "inner.zip": zipped({"a": RUN})}
    )
    found = {problem.path: problem.found for problem in refusals(data)}

    assert found == {
        "x/empty.tsv": "an empty file",
        "x/paper.pdf": "a PDF document",
        "x/inner.zip": "an archive inside an archive",
    }


def test_a_file_of_a_zip_that_is_damaged_is_named():
    data = zipped({"a.tsv": RUN * 99}, zipfile.ZIP_STORED).replace(
        RUN * 3, RUN * 2 + RUN.upper(), 1
    )

    assert refusals(data)[0].path == "x/a.tsv"
    assert refusals(data)[0].found.startswith("damaged data")


def test_a_locked_file_of_a_zip_is_named():
    data = bytearray(zipped({"a.tsv": RUN}))
    data[6] |= 1
    data[data.rfind(b"PK\x01\x02") + 8] |= 1

    assert "password" in refusals(bytes(data))[0].found


def test_a_zip_that_claims_to_be_larger_than_the_limit_is_not_read():
    assert "more than 1,000 bytes" in refusals(zipped({"a": RUN * 99}), max_bytes=1000)[0].found


def test_a_zip_that_claims_to_be_small_is_stopped_all_the_same():
    data = zipped({"a.tsv": b"A.1\t1\n" * 9999}, zipfile.ZIP_STORED)
    at = data.rfind(b"PK\x01\x02") + 24
    data = data[:at] + (6).to_bytes(4, "little") + data[at + 4 :]

    assert refusals(data, max_bytes=1000)


def test_nothing_more_of_a_zip_is_read_once_the_limit_is_passed():
    data = zipped({"a.tsv.gz": gzip.compress(RUN * 999), "b.pdf": b"%PDF"})

    assert [problem.path for problem in refusals(data, max_bytes=1000)] == ["x/a.tsv.gz"]


def test_a_file_of_a_zip_that_is_compressed_in_an_unusual_way_is_named():
    assert "unusual" in refusals(zipped({"a.tsv": RUN}, zipfile.ZIP_BZIP2))[0].found


def test_a_zip_of_too_many_files_is_refused():
    assert (
        f"{MAX_MEMBERS + 1:,} files"
        in refusals(zipped({str(n): RUN for n in range(MAX_MEMBERS + 1)}))[0].found
    )


def test_a_zip_with_a_huge_table_of_contents_is_refused_before_it_is_read():
    data = zipped({f"{n:0200}": b"" for n in range(6000)}, zipfile.ZIP_STORED)

    assert refusals(data)[0].found == "a zip with too many files"


def test_a_zip_in_the_form_for_huge_archives_is_refused():
    assert "ZIP64" in refusals(zipped({"a.tsv": RUN}) + b"PK\x06\x07")[0].found


@given(
    st.binary(max_size=300), st.sampled_from([b"", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08"])
)
def test_no_bytes_do_more_than_be_refused(data, head):
    with suppress(UploadRefusedError):
        assert all(run.data for run in unpack(io.BytesIO(head + data), name="x"))


MEASURED = """
import io, re, sys, time
from arqkit.formats.runs.check import RunRules, check_run
from arqkit.formats.archives.uploads import UploadRefusedError, unpack
data = open(sys.argv[1], "rb").read()
start = time.process_time()
try:
    unpack(io.BytesIO(data), name="x")
    print("taken")
except UploadRefusedError as refused:
    print(refused.problems[0].found)
seconds = time.process_time() - start
# Not ru_maxrss, which a process takes over from the one that started it.
print(seconds, int(re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""
HUGE = {
    "5 million lines": lambda: b"A.1\t1\t1\t1.0\tt\n" * 5_000_000,
    "3 MB in one line": lambda: b"x" * 3_000_000,
    "a gzip bomb": lambda: gzip.compress((b"x" * 999 + b"\n") * 400_000, 1),
    "a zip bomb": lambda: zipped({str(n): (b"x" * 999 + b"\n") * 40_000 for n in range(9)}),
    "60 MB cut short": lambda: gzip.compress((b"x" * 999 + b"\n") * 60_000, 1)[:-9],
}


@pytest.mark.parametrize("kind", HUGE)
def test_a_huge_upload_is_answered_within_two_seconds_and_300_mb(kind, tmp_path, record_property):
    path = tmp_path / "upload"
    path.write_bytes(HUGE[kind]())
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found, figures = done.stdout.splitlines()
    seconds, mebibytes = map(float, figures.split())

    assert found != "taken"
    assert seconds < 2
    assert mebibytes < 300
    record_property("figures", f"{found}: {seconds:.2f} s, {mebibytes:.0f} MiB")


def test_a_zip_is_listed_without_folders_and_what_systems_add():
    data = zipped({"runs/": b"", "runs/a.tsv": RUN, "b.tsv.gz": RUN, "__MACOSX/._a.tsv": b"x"})
    assert zip_members(io.BytesIO(data), name="x.zip") == ["runs/a.tsv", "b.tsv.gz"]


def test_what_is_no_zip_has_no_members():
    assert zip_members(io.BytesIO(RUN), name="x.tsv") == []


@pytest.mark.parametrize("data", [zipped({}), zipped({"runs/": b""}), zipped({"a.tsv": RUN})[:-5]])
def test_a_zip_that_cannot_be_listed_is_refused(data):
    with pytest.raises(UploadRefusedError):
        zip_members(io.BytesIO(data), name="x.zip")


def test_one_member_is_read_whatever_the_others_are():
    data = zipped({"a/run.tsv": RUN, "b/run.tsv": b"%PDF", "paper.pdf": b"%PDF"})
    assert unpack(io.BytesIO(data), name="x.zip", only="a/run.tsv") == [
        ("run.tsv", RUN, "a/run.tsv")
    ]


def test_a_zip_larger_than_its_table_of_contents_may_be_is_read():
    data = zipped({"a.tsv": RUN * 100_000}, zipfile.ZIP_STORED)
    assert len(data) > MAX_DIRECTORY_BYTES
    assert unpack(io.BytesIO(data), name="x.zip")[0].data == RUN * 100_000


def test_one_run_may_not_take_all_that_an_upload_may():
    assert (
        refusals(RUN * 1000, max_run_bytes=10_000)[0].found
        == "more than 10,000 bytes when unpacked"
    )


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_files_of_one_name_are_indistinguishable():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("run.tsv", RUN)
        archive.writestr("run.tsv", b"%PDF")

    assert refusals(packed.getvalue())[0].found == "a zip with 2 files named run.tsv"


@given(st.data())
def test_damage_anywhere_in_an_archive_is_a_refusal_or_harmless(data):
    packed = (
        zipped({"runs/ä.tsv": RUN * 30, "b.tsv": RUN})
        if data.draw(st.booleans())
        else gzip.compress(RUN * 30)
    )
    damaged = bytearray(packed)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))

    for door in (zip_members, unpack):
        with suppress(UploadRefusedError):
            door(io.BytesIO(bytes(damaged)), name="x")


def test_a_name_that_is_not_utf_8_damages_the_zip():
    damaged = zipped({"ä.tsv": RUN}).replace("ä".encode(), b"\xff\xfe")

    assert refusals(damaged)[0].found.startswith("a damaged zip")
    with pytest.raises(UploadRefusedError):
        zip_members(io.BytesIO(damaged), name="x.zip")


def test_zeros_are_no_utf_16():
    assert refusals(bytes(1000))[0].found == "many null bytes, so it is not text"
