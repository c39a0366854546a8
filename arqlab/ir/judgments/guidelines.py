"""What assessors are told when an organizer has written nothing else: the labels of protocol §6,
with examples.

The definitions are those of the labs (000 Table 4, 004 Table 2, and their sections on assessment);
the examples are our own. The texts are HTML with LaTeX between dollars, as posts are.
"""

from arqlab.ir.records import TaskKind

_ANSWERS = r"""<p>You judge answers to one question. Ask of each: a professor of mathematics wants to help the person who asked.
How useful would this answer be to that professor?</p>
<table>
<thead><tr><th>Score</th><th>Label</th><th>The answer</th></tr></thead>
<tbody>
<tr><td>3</td><td><strong>High</strong></td><td>is sufficient to answer the complete question on its own, all parts of a question of several parts.</td></tr>
<tr><td>2</td><td><strong>Medium</strong></td><td>provides some path towards the solution: it clarifies the question, or identifies steps towards a solution.</td></tr>
<tr><td>1</td><td><strong>Low</strong></td><td>provides information that could be useful for finding or interpreting an answer, or for interpreting the question.</td></tr>
<tr><td>0</td><td><strong>Not relevant</strong></td><td>provides no information pertinent to the question or its answers. One that only restates the question is not relevant.</td></tr>
</tbody>
</table>
<h3>Examples</h3>
<p>The question: <em>Why does $\sum_{n=1}^\infty \frac{1}{n^2}$ converge, and what is its value?</em></p>
<ul>
<li><strong>High</strong>: it compares the sum with $1+\int_1^\infty \frac{dx}{x^2}$ and derives $\frac{\pi^2}{6}$ from the product for $\frac{\sin x}{x}$. Both parts are answered.</li>
<li><strong>Medium</strong>: it shows by comparison that the sum converges and says nothing of the value. Or it names the product for $\frac{\sin x}{x}$ as the way, and stops there.</li>
<li><strong>Low</strong>: it tells that this is the Basel problem, or states for which $p$ the sum $\sum \frac{1}{n^p}$ converges, without a reason.</li>
<li><strong>Not relevant</strong>: it writes the question in other words, or shows that $\sum \frac{(-1)^n}{n}$ converges.</li>
</ul>
<h3>What counts</h3>
<ul>
<li>Judge by what is in the answer. An answer is relevant if any part of it is; other matter in it takes nothing away.</li>
<li>A link to a post of the collection may be followed to understand the answer. What stands behind any other link is not part of it.</li>
<li>The threads help you to understand. What they say is part neither of the question nor of the answer.</li>
<li>Judge each answer by itself: neither its votes nor how often you saw the same thing before matter.</li>
</ul>
"""

_WRITTEN_TOO = """<p>Some answers were written by a system and have no thread. Judge them by the same definitions.</p>
"""

_WRITTEN = """<p>These answers were written by systems and have no thread.</p>
"""

_FORMULAS = r"""<p>You judge formulas that were found for one query formula. Ask of each: if a search engine gave this formula,
here or in another post, would that be useful for what the person who asked wants to achieve?</p>
<table>
<thead><tr><th>Score</th><th>Label</th><th>Finding this formula</th></tr></thead>
<tbody>
<tr><td>3</td><td><strong>High</strong></td><td>would be just as good as finding an exact match to the query formula.</td></tr>
<tr><td>2</td><td><strong>Medium</strong></td><td>would be useful, but not as good as the original formula.</td></tr>
<tr><td>1</td><td><strong>Low</strong></td><td>gives some chance of finding something useful.</td></tr>
<tr><td>0</td><td><strong>Not relevant</strong></td><td>is not expected to be useful.</td></tr>
</tbody>
</table>
<h3>Examples</h3>
<p>The question: <em>How do I evaluate $\int_0^\infty e^{-x^2}\,dx$ without polar coordinates?</em> The integral is the query formula.</p>
<ul>
<li><strong>High</strong>: $\int_{-\infty}^\infty e^{-t^2}\,dt$. Twice the same integral under another name: its answers are answers here.</li>
<li><strong>Medium</strong>: $\int_0^\infty x^2 e^{-x^2}\,dx$. It is reduced to the one asked for, and the same ways lead to it.</li>
<li><strong>Low</strong>: $\int_0^a e^{-x^2}\,dx$. It has no closed form, but what is said of it may help.</li>
<li><strong>Not relevant</strong>: $\int_0^\infty e^{-x}\,dx$. It looks much alike, and any school method solves it.</li>
</ul>
"""

_ALWAYS_HIGH = """<h3>The same formula</h3>
<p>A formula that looks exactly like the query formula is always <strong>High</strong>, whatever the post is about.</p>
"""

_BY_CONTEXT = r"""<h3>The same formula</h3>
<p>A formula that looks exactly like the query formula is usually <strong>High</strong>, but its context decides: where the same signs mean
something very different it may be less relevant, or not at all. For $\sigma(n)$ as the sum of the divisors of $n$, a post
in which $\sigma(n)$ is a permutation's value at $n$ is <strong>Not relevant</strong>.</p>
"""

_INSTANCES = """<h3>What counts</h3>
<ul>
<li>You do not judge whether the post shown is a good answer. It is the context that tells what its formula means: which kind of
things the variables are, how an operator is meant, which part of mathematics it is.</li>
<li>The same formula may stand in up to five posts. Each has its own label, by its own context.</li>
<li>The question tells what was wanted. The threads help you to understand it; they are part of nothing that you judge.</li>
</ul>
"""

_NO_JUDGMENT = """<h3>When you cannot judge</h3>
<ul>
<li><strong>System failure</strong>: something does not show or open that you need, such as a formula that cannot be read.</li>
<li><strong>Do not know</strong>: you read the threads, and looked the matter up elsewhere if that could help, and still cannot decide.</li>
</ul>
<p>Both ask for a comment that tells the organizers why. {counts}</p>
<p>Aim to judge alike things alike. Where you see that an earlier label was wrong, go back, change it, and say why.</p>
"""
_UNJUDGED = "The item then counts as unjudged."
_MIXED = "The item then counts as unjudged, a written answer as not relevant."
_AS_ZERO = "The answer then counts as not relevant."


def default_guideline(kind: TaskKind, protocol_slug: str) -> str:
    """Return the instructions for a kind of task in a lab of a protocol (a slug of `PROTOCOLS`), as
    HTML with LaTeX.

    ARQMath-1 had every exact match of a formula judged relevant; from ARQMath-2 on the context
    decides (004 §5.6). ARQMath-3 mixes Task 3's written answers into Task 1's pool; System failure
    and Do not know are 0 there (004 §6.3.1).
    """
    if kind == TaskKind.FORMULAS:
        same = _ALWAYS_HIGH if protocol_slug == "arqmath-1" else _BY_CONTEXT
        return _FORMULAS + same + _INSTANCES + _NO_JUDGMENT.format(counts=_UNJUDGED)
    if kind == TaskKind.WRITTEN_ANSWERS:
        return _ANSWERS + _WRITTEN + _NO_JUDGMENT.format(counts=_AS_ZERO)
    if protocol_slug == "arqmath-3":
        return _ANSWERS + _WRITTEN_TOO + _NO_JUDGMENT.format(counts=_MIXED)
    return _ANSWERS + _NO_JUDGMENT.format(counts=_UNJUDGED)
