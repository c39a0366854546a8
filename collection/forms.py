"""The search form of the collection."""

from __future__ import annotations

from django import forms

from arqkit.texts.posts.queries import LONGEST, PostQuery, parse_query, with_filters


class LookUpForm(forms.Form):
    """A search box for words, ids, filters and formulas, plus the filters as separate fields."""

    q = forms.CharField(
        label="Words, an id, or a formula between dollar signs",
        required=False,
        max_length=LONGEST,
        strip=True,
    )
    kind = forms.ChoiceField(
        label="Post type",
        required=False,
        choices=[("", "All"), ("question", "Questions"), ("answer", "Answers")],
    )
    tags = forms.CharField(label="Tags", required=False, max_length=200)
    score = forms.IntegerField(
        label="Minimum score", required=False, min_value=-100_000, max_value=1_000_000
    )

    def query(self) -> PostQuery:
        """Return the query. Invalid fields are ignored; the page shows their errors."""
        self.is_valid()
        read = self.cleaned_data
        query = parse_query(read.get("q", ""))
        return with_filters(
            query, kind=read.get("kind", ""), tags=read.get("tags", ""), least=read.get("score")
        )
