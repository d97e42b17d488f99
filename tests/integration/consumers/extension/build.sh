# Builds the extension beside its sources and runs it with the Python in CONDA_PREFIX.
set -eu
python setup.py build_ext --inplace
TORCH_EXTENSIONS_DIR=$PWD/extensions python check.py
