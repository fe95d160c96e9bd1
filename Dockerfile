# The command `commonplace` with its page, for one user without rights: docs/operating.md#containers, compose.yaml.
FROM python:3.11-slim AS build
COPY . /source
RUN pip wheel --no-deps --wheel-dir /dist /source
ARG EXTRAS=web,postgres,mcp
# the versions that were tested together, on this version of Python
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --constraint /source/constraints.txt "$(echo /dist/*.whl)[$EXTRAS]"

FROM python:3.11-slim
COPY --from=build /venv /venv
RUN useradd --uid 10001 --create-home town && install --directory --owner=town --group=town /town /town/runs
USER town
WORKDIR /town
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["commonplace"]
CMD ["--log-format", "json", "serve", "--host", "0.0.0.0", "--port", "8000", "--no-open"]
