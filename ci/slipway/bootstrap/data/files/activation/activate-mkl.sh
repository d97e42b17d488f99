# libmkl_rt chooses its threads when it is first used: GNU's OpenMP, unless the user or mkl-intel-thread says otherwise.
if [ -z "${MKL_THREADING_LAYER:-}" ] && [ ! -e "${CONDA_PREFIX:-}/lib/libmkl_intel_thread.so.2" ]; then
  export MKL_THREADING_LAYER=GNU
  export _CONDA_SET_MKL_THREADING_LAYER=1
fi
