"""The version under which typeset formulas are stored is raised with every change of the output."""

import hashlib
import tomllib

from arqkit.texts.maths.typesetting import SHOWN_MACROS, TEMML, VERSION, typeset
from tests.paths import ROOT

RECORD = ROOT / "tests" / "golden" / "typeset.toml"


def sha256(data: bytes) -> str:
    """Return the digest of data in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def recorded() -> dict:
    """Return the record: version, digests and sample formulas."""
    return tomllib.loads(RECORD.read_text(encoding="utf-8"))


def output(formulas: list[str]) -> str:
    """Return the digest of the sample formulas, typeset inline and as displays."""
    shown = [typeset(latex, display=block).mathml for latex in formulas for block in (False, True)]
    return sha256("\n".join(mathml or "" for mathml in shown).encode())


def test_the_recorded_version_is_that_of_the_typesetter() -> None:
    assert recorded()["version"] == VERSION, f"Update the record in {RECORD} to the new version."


def test_another_temml_needs_another_version() -> None:
    assert recorded()["temml"] == sha256(TEMML.read_bytes()), (
        f"Temml changed. Raise typesetting.VERSION, then update version and digests in {RECORD}."
    )


def test_other_output_needs_another_version() -> None:
    record = recorded()

    assert record["output"] == output(record["formulas"]), (
        f"The output changed. Raise typesetting.VERSION, then update the record in {RECORD}."
    )


def test_the_sample_uses_every_macro_of_ours() -> None:
    sample = "\n".join(recorded()["formulas"])

    assert [name for name in SHOWN_MACROS if name not in sample] == []
