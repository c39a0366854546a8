"""The exports for other tools."""

from collections.abc import Iterable

from arqkit.formats.tables import zip_chunks
from arqlab.core.models import Task
from arqlab.web.exports import Audience, Export, Published, declare_exports
from contrib.exchange.services.interchange import ir_dataset_files, ir_dataset_zip, trec_files


def _trec_runs(task: Task) -> Iterable[bytes]:
    return zip_chunks(trec_files(task))


def _ir_dataset(task: Task) -> Iterable[bytes]:
    return zip_chunks(ir_dataset_zip(task))


declare_exports(
    tasks=[
        Export(
            "ir-datasets.zip",
            "Topics and qrels with their definition for ir_datasets: put the folder on the path of "
            "Python and import ir_dataset.",
            Audience.AFTER_RELEASE,
            _ir_dataset,
        ),
        Export(
            "runs-trec.zip",
            "The valid runs in the six columns of TREC, as trec_eval, ir_measures, trectools and "
            "TIRA read them, in the order and with the kind of items that are scored; and the "
            "qrels.",
            Audience.ORGANIZERS,
            _trec_runs,
        ),
    ],
    published=[
        Published(
            "The definition of the topics and qrels in this folder for ir_datasets.",
            ir_dataset_files,
        )
    ],
)
