#!/bin/sh
# Writes ci/requirements*.lock from their .in files, with the hashes of every wheel.
# Needs pip-tools: `python3 -m pip install pip-tools`, in an environment of its own. `sh ci/lock.sh --upgrade` renews.
set -eu
cd "$(dirname "$0")"
for name in requirements requirements-test; do
  python3 -m piptools compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url \
    --no-emit-find-links --no-emit-trusted-host --no-header --output-file "$name.lock" "$name.in" "$@"
done
