"""TOML, XML, JSON and YAML of absurd depth get a sentence, at each door that reads them."""

import json

import pytest
import yaml

from arqlab.core.models import Job, Lab
from arqlab.jobs.services.jobs import BROKEN
from tests.desk.views.test_loads import FILES, LAB, creator, file, post
from tests.outside import zip_of

__all__ = ["creator", "post"]

DEEP = 100_000
TOMLS = {
    "lists": "x = " + "[" * DEEP,
    "closed lists": "x = " + "[" * 90 + "]" * 90,
    "tables": "x = " + "{a=" * DEEP,
    "keys": "a." * DEEP + "a = 1",
    "quoted keys": "[" + '"a".' * DEEP + "a]",
    "tables by header": "[" + "a . " * DEEP + "a]",
    "many keys": "".join(f"{'.'.join('abcdefgh' * 6)}.k{n} = 1\n" for n in range(2_000)),
    "a number": f"x = {'9' * 5_000}",
    "a day": "x = 2027-99-99",
    "a large file": "#" * 2_000_000,
}
XMLS = {
    "elements": "<Topics>" + "<a>" * DEEP,
    "closed elements": "<Topics><Topic number='A.1'><Title>x</Title><Question>"
    + "<b>" * 5_000
    + "</b>" * 5_000
    + "</Question></Topic></Topics>",
    "entities": '<!DOCTYPE Topics [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    "<Topics>&b;</Topics>",
    "attributes": "<Topics><Topic " + "".join(f"a{n}='1' " for n in range(DEEP)) + "/></Topics>",
    "HTML": "<Topics><Topic number='A.1'><Title>x</Title><Question>"
    + "&lt;div&gt;" * 20_000
    + "</Question></Topic></Topics>",
}
JSONS = {
    "objects": '{"A.1":' * DEEP,
    "lists": '{"A.301": {"x": ' + "[" * DEEP,
    "closed lists": '{"A.301": {"x": ' + "[" * 900 + "]" * 900 + "}}",
    "a number": '{"A.301": {"x": ' + "9" * 5_000 + "}}",
}
LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghij", "bcdefghijk", strict=True)
)
YAMLS = {
    "lists": "tag: " + "[" * DEEP,
    "closed lists": "tag: " + "[" * 300 + "]" * 300,
    "objects": "".join(f"{' ' * n}a:\n" for n in range(2_000)),
    "laughs": LAUGHS + "tag: *k\n",
    "itself": "tag: &a [*a]\n",
    "a number": f"tag: {'9' * 5_000}",
    "a day": "tag: 2027-99-99",
    "a class": "tag: !!python/object/apply:os.system [ls]",
}


def assert_sentence(load: Job) -> None:
    """Check that a load is refused, with at least a sentence for its user."""
    assert load.message != BROKEN
    assert load.state == Job.State.REFUSED, (load.state, load.message)
    assert load.message or load.problem_count


@pytest.mark.parametrize("kind", TOMLS)
def test_a_deep_lab_toml_is_refused(creator, post, kind):
    files = [("lab.toml", f"{LAB}{TOMLS[kind]}\n".encode())]

    assert_sentence(post(creator, "/load-lab/", file=[file("tiny.zip", zip_of(files))]))
    assert not Lab.objects.exists()


@pytest.mark.parametrize("kind", XMLS)
def test_deep_topics_are_refused_or_loaded(scene, post, kind):
    load = post(
        scene.superuser,
        "/labs/arqmath-x/tasks/task1/load/topics/",
        topics=file("topics.xml", XMLS[kind]),
    )

    if load.state not in (Job.State.DONE, Job.State.UNCONFIRMED):
        assert_sentence(load)


@pytest.mark.parametrize("kind", JSONS)
def test_deep_topic_information_is_refused(scene, post, kind):
    load = post(
        scene.superuser,
        "/labs/arqmath-x/tasks/task1/load/topics/",
        topics=file("topics.xml", FILES["topics.xml"]),
        topic_info=file("topic-info.json", JSONS[kind]),
    )

    assert_sentence(load)


@pytest.mark.parametrize("kind", YAMLS)
def test_deep_metadata_of_a_run_is_refused(scene, post, kind):
    run = "Alpha-task1-x-auto-both-A.tsv"
    files = [(run, b"A.1\t10\t1\t2.5\tours\n"), (f"{run}.ir_metadata.yml", YAMLS[kind].encode())]

    load = post(
        scene.superuser,
        "/labs/arqmath-x/tasks/task1/load/runs/",
        file=[file("runs.zip", zip_of(files))],
    )

    assert_sentence(load)


def test_the_laughs_are_a_text_of_some_hundred_bytes_and_of_a_billion_words():
    assert len(LAUGHS) < 1_000
    assert len(yaml.safe_load(LAUGHS)["b"]) == 9


@pytest.mark.parametrize("kind", JSONS)
def test_deep_json_for_the_api_is_a_fault_of_the_request(scene, client_of, kind):
    client = client_of(scene.member)
    client.raise_request_exception = False

    for address, method in (
        ("/api/v1/labs/arqmath-x/tasks/task1/runs/", client.post),
        ("/api/v1/labs/arqmath-x/tasks/task1/runs/1/", client.patch),
        ("/api/v1/labs/arqmath-x/tasks/task1/judgments/", client.post),
    ):
        answer = method(address, data=JSONS[kind], content_type="application/json")

        assert 400 <= answer.status_code < 500, address
        assert json.loads(answer.content)["message"]
