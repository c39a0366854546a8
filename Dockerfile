# One image for web, worker and beat; docker-compose.yml sets the command of each.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 ARQLAB_DATA=/data
WORKDIR /app
COPY requirements.txt .
# As in bin/setup: the lock is complete, and extras must not be resolved again.
RUN pip install --no-cache-dir --no-deps --require-hashes --only-binary :all: \
    --requirement requirements.txt && pip check
COPY . .
RUN useradd --system --create-home arqlab && mkdir /data && chown arqlab /data
USER arqlab
VOLUME /data
EXPOSE 8000
CMD ["python", "manage.py", "serve", "--bind", "0.0.0.0:8000"]
