"""A small collection of articles with formulas, whose ids are those of NTCIR: article:place."""

import json
from pathlib import Path

LAB = """
[lab]
slug = "wiki"
name = "Formulas of articles"
protocol = "{protocol}"

[collection]
slug = "articles"
documents = "articles.jsonl"

[[tasks]]
slug = "formulas"
name = "Formula queries"
kind = "formulas"
topics = "topics.txt"
"""
SPAN = '<span class="math-container" id="{}">${}$</span>'
ARTICLES = {
    "Duckworth–Lewis_method": ["Z(u,w)=Z_0(w)", "w=10"],
    "Beta_function_(physics)": [r"\beta(g)=\mu", "w=10"],
    "Hilbert's_axioms,_π": ["a+b", r"\beta(g)=\mu"],
}
MATH = '<math id="Duckworth–Lewis_method:1" alttext="w=10"><mi>w</mi><mo>=</mo><mn>10</mn></math>'
TOPICS = {"W-1": r"w=\qvar{*1*}", "W-2": r"\beta(g)=\mu"}


def lab_of_articles(folder: Path, *topics: str, protocol: str = "ntcir-12") -> str:
    """Write the folder of a lab with the articles, one of them with MathML, and topics.

    Return its `lab.toml`.
    """
    lines = []
    for name, formulas in ARTICLES.items():
        spans = [SPAN.format(f"{name}:{at}", latex) for at, latex in enumerate(formulas)]
        html = f"<p>Let {spans[0]} and {spans[1]}.</p>"
        if name.startswith("Duckworth"):
            html = f"<html><body>{html.replace(spans[1], MATH)}</body></html>"
        lines.append(json.dumps({"id": name, "title": name.replace("_", " "), "html": html}))
    (folder / "articles.jsonl").write_text("\n".join(lines))
    (folder / "topics.txt").write_text("".join(f"{one}\t{TOPICS[one]}\n" for one in topics))
    lab = LAB.format(protocol=protocol)
    lab = lab if topics else lab.replace('topics = "topics.txt"\n', "")
    (folder / "lab.toml").write_text(lab)
    return lab
