"""The exports for other tools."""

from collections.abc import Iterable, Iterator

from arqkit.formats.tables import zip_chunks
from arqlab.core.exports import Audience, Document, Export, declare_documents, declare_exports
from arqlab.core.models import Task
from contrib.exchange.services.interchange import ir_dataset_files, ir_dataset_zip, trec_files


def _trec_runs(task: Task) -> Iterable[bytes]:
    return zip_chunks(trec_files(task))


def _ir_dataset(task: Task) -> Iterable[bytes]:
    return zip_chunks(ir_dataset_zip(task))


def _definition(task: Task, *, published: bool) -> Iterator[Document]:
    contents = "The definition of the topics and qrels in this folder for ir_datasets."
    for name, content in ir_dataset_files(task) if published else ():
        yield Document(name, contents, [content])


declare_exports(
    tasks=[
        Export(
            "ir-datasets.zip",
            "Topics and qrels with their definition for ir_datasets: put the folder on the path of "
            "Python and import ir_dataset.",
            Audience.AFTER_RELEASE,
            _ir_dataset,
            is_archived=False,
        ),
        Export(
            "runs-trec.zip",
            "The valid runs in the six columns of TREC, as trec_eval, ir_measures, trectools and "
            "TIRA read them, in the order and with the kind of items that are scored; and the "
            "qrels.",
            Audience.ORGANIZERS,
            _trec_runs,
            is_archived=False,
        ),
    ]
)
declare_documents(of_task=_definition)
