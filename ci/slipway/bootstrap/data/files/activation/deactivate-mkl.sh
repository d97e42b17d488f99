# Takes back what activate-mkl.sh set.
if [ -n "${_CONDA_SET_MKL_THREADING_LAYER:-}" ]; then
  unset MKL_THREADING_LAYER _CONDA_SET_MKL_THREADING_LAYER
fi
