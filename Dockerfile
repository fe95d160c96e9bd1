# The command `commonplace` with its page and PostgreSQL; see compose.yaml.
FROM python:3.13-slim AS build
COPY . /source
RUN pip wheel --no-deps --wheel-dir /dist /source

FROM python:3.13-slim
COPY --from=build /dist /dist
RUN wheel=$(echo /dist/*.whl) && pip install --no-cache-dir "$wheel[web,postgres,mcp]"
WORKDIR /town
ENTRYPOINT ["commonplace"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000", "--no-open"]
