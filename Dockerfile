# The agent in a container: pages and routes on port 8000, results in /app/results.
FROM python:3.11-slim-bookworm AS build
WORKDIR /app
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 EVALUATOR_CACHE_DIR=/app/cache
COPY requirements.txt ./
RUN python -m venv .venv && .venv/bin/pip install --quiet -r requirements.txt
# The downloads depend on these modules alone: a change elsewhere does not fetch them again.
COPY evaluator_core/assets.py evaluator_core/errors.py evaluator_core/
RUN .venv/bin/python -m evaluator_core.assets
# Compiled here, the sandbox's Python starts at once for a user who can write nowhere.
COPY evaluator_core/behaviour/compiled.py evaluator_core/behaviour/
RUN .venv/bin/python -m evaluator_core.behaviour.compiled && chmod -R a+rX cache/compiled

FROM python:3.11-slim-bookworm
WORKDIR /app
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 EVALUATOR_CACHE_DIR=/app/cache
RUN useradd --uid 10001 --no-create-home --home-dir /app agent && mkdir results && chown 10001 results
COPY --from=build /app/.venv .venv
COPY --from=build /app/cache cache
COPY .streamlit/config.toml .streamlit/
COPY app.py payload.json ./
COPY evaluator_core evaluator_core
COPY dashboard dashboard
COPY pages pages
USER 10001
EXPOSE 8000
VOLUME /app/results
# Every unknown path answers 200 with a page: only the body tells that the server is well.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import sys, urllib.request as u; sys.exit(u.urlopen('http://127.0.0.1:8000/_stcore/health', timeout=4).read() != b'ok')"]
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address", "0.0.0.0"]
