"""What the pages of all apps are made of: import these names from here, as `arqlab.web` itself.

`Pages` declares addresses and who may open them, `Tab` what leads to them. `answer` returns a page
with its `Table`s, or the file of one; `news` one that asks for news of itself; `context_of` makes
the context of a template. `cells` are the kinds of cells that a `Column` has (`cells.COUNT`), and
`filters` of lists are a `Filter`. What an app declares beside its pages comes from the module of
that: jobs, parts and tables of archives.
"""

from arqlab.web import cells
from arqlab.web.contexts import context_of
from arqlab.web.downloads import exact_response, file_response, table_response
from arqlab.web.jobs import news
from arqlab.web.lists import ROWS_A_PAGE, Filter, SearchForm
from arqlab.web.pages import FILE, LAB, ROWS, TASK, Pages, json_of, number_of
from arqlab.web.places import address_of, task_url, url_of
from arqlab.web.problems import problem_table
from arqlab.web.tables import (
    LONGEST_TABLE,
    Chart,
    Column,
    Empty,
    Prepared,
    Row,
    Table,
    answer,
    choice_column,
    frame_table,
    run_columns,
    to,
)
from arqlab.web.tabs import Tab, for_organizers, judges, only_assessors, organizers, submitters
from arqlab.web.words import counted, name_list, utc_text

__all__ = [
    "FILE",
    "LAB",
    "LONGEST_TABLE",
    "ROWS",
    "ROWS_A_PAGE",
    "TASK",
    "Chart",
    "Column",
    "Empty",
    "Filter",
    "Pages",
    "Prepared",
    "Row",
    "SearchForm",
    "Tab",
    "Table",
    "address_of",
    "answer",
    "cells",
    "choice_column",
    "context_of",
    "counted",
    "exact_response",
    "file_response",
    "for_organizers",
    "frame_table",
    "json_of",
    "judges",
    "name_list",
    "news",
    "number_of",
    "only_assessors",
    "organizers",
    "problem_table",
    "run_columns",
    "submitters",
    "table_response",
    "task_url",
    "to",
    "url_of",
    "utc_text",
]
