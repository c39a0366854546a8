"""The corpus of attacks: one vector per block of `vectors.txt`.

A vector that succeeds calls `xss()` or requests something from the host `evil.example`.
"""

from pathlib import Path

# What a text file cannot hold, or what an editor would change.
_CONTROLS = {f"[[{code:02X}]]": chr(code) for code in range(32)} | {
    "[[7F]]": "\x7f",
    "[[A0]]": "\xa0",
    "[[2028]]": "\u2028",
    "[[3000]]": "\u3000",
    "[[E000]]": "\ue000",
    "[[E001]]": "\ue001",
    "[[202E]]": "\u202e",
    "[[FEFF]]": "\ufeff",
    "[[FF1C]]": "\uff1c",
}


def vectors() -> list[str]:
    """Return the attacks: blocks between lines of dashes, under their class (a line with ##)."""
    text = (Path(__file__).parent / "vectors.txt").read_text(encoding="utf-8")
    blocks = "\n".join(line for line in text.splitlines() if not line.startswith("##")).split(
        "\n---\n"
    )
    for name, character in _CONTROLS.items():
        blocks = [block.replace(name, character) for block in blocks]
    return [block.strip("\n") for block in blocks if block.strip("\n")]
