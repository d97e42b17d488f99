set -e
"$PYTHON" -m pip install --no-deps --no-build-isolation .
