"""An object storage for tests: moto's server, which answers as S3 does."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import boto3
import pytest
from moto.server import ThreadedMotoServer


@contextmanager
def bucket_server() -> Iterator[dict[str, str]]:
    """Serve an empty bucket; yield the variables by which ArqLab keeps its files there."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    variables = {
        "ARQLAB_S3_BUCKET": f"lab-{uuid4().hex}",
        "AWS_ENDPOINT_URL_S3": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "tests",
        "AWS_SECRET_ACCESS_KEY": "only for tests",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        boto3.client("s3").create_bucket(Bucket=variables["ARQLAB_S3_BUCKET"])
        yield variables
    server.stop()
