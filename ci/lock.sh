#!/bin/sh
# Writes requirements.lock from pyproject.toml's dependencies, and requirements-test.lock from its .in file, with the
# hashes of every wheel. Needs pip-tools: `python3 -m pip install pip-tools`, in an environment of its own.
# `sh ci/lock.sh --upgrade` renews.
set -eu
cd "$(dirname "$0")"
lock() {
  python3 -m piptools compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
    --no-emit-find-links --no-emit-trusted-host --no-header --output-file "$@"
}
lock requirements.lock ../pyproject.toml "$@"
lock requirements-test.lock requirements-test.in "$@"
