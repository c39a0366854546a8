# One image for web, workers and beat, with the guides that the first stage builds; docker-compose.yml
# sets the command of each.
FROM python:3.11-slim AS guides
WORKDIR /app
COPY requirements-docs.txt .
RUN pip install --no-cache-dir --no-deps --require-hashes --only-binary :all: \
    --requirement requirements-docs.txt
COPY . .
RUN NO_MKDOCS_2_WARNING=1 mkdocs build --strict

FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 ARQLAB_DATA=/data
WORKDIR /app
# pg_dump and pg_restore, for backups.
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/*
COPY requirements-extras.txt .
# As in bin/setup: the lock is complete, and extras must not be resolved again.
RUN pip install --no-cache-dir --no-deps --require-hashes --only-binary :all: \
    --requirement requirements-extras.txt && pip check
COPY . .
COPY --from=guides /app/site site
RUN useradd --system --uid 10001 --create-home arqlab && mkdir /data /backups && chown arqlab /data /backups
USER arqlab
VOLUME /data
EXPOSE 8000
CMD ["python", "manage.py", "serve", "--bind", "0.0.0.0:8000"]
