# Puts back what ~cuda-nvcc_activate.sh changed.
for _slipway_name in CUDA_PATH CUDA_HOME CUDACXX CUDAHOSTCXX NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS CFLAGS CPPFLAGS \
  CXXFLAGS LDFLAGS CMAKE_ARGS; do
  eval "_slipway_known=\${_CONDA_NVCC_BACKUP_${_slipway_name}+set}"
  if [ "${_slipway_known}" = set ]; then
    eval "export ${_slipway_name}=\"\${_CONDA_NVCC_BACKUP_${_slipway_name}}\""
    unset "_CONDA_NVCC_BACKUP_${_slipway_name}"
  else
    unset "${_slipway_name}"
  fi
done
unset _slipway_name _slipway_known
