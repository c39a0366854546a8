"""What a person asks of the collection."""

from __future__ import annotations

from django import forms

from arqlab.texts.posts.queries import LONGEST, PostQuery, parse_query, with_filters


class LookUpForm(forms.Form):
    """One box that understands words, ids, filters and formulas, and the filters as fields of their
    own.
    """

    q = forms.CharField(
        label="Words, an id, or a formula between dollars",
        required=False,
        max_length=LONGEST,
        strip=True,
    )
    kind = forms.ChoiceField(
        label="Kind",
        required=False,
        choices=[("", "Questions and answers"), ("question", "Questions"), ("answer", "Answers")],
    )
    tags = forms.CharField(label="Tags", required=False, max_length=200)
    score = forms.IntegerField(
        label="Score at least", required=False, min_value=-100_000, max_value=1_000_000
    )

    def query(self) -> PostQuery:
        """Return the query. A field that makes no sense is passed over, and its error stands beside
        it.
        """
        self.is_valid()
        read = self.cleaned_data
        query = parse_query(read.get("q", ""))
        return with_filters(
            query, kind=read.get("kind", ""), tags=read.get("tags", ""), least=read.get("score")
        )
