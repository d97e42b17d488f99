# Puts back what activate-gxx.sh changed.
for _slipway_name in CXX GXX CXX_FOR_BUILD CXXFLAGS; do
  eval "_slipway_known=\${_CONDA_BACKUP_${_slipway_name}+set}"
  if [ "${_slipway_known}" = set ]; then
    eval "export ${_slipway_name}=\"\${_CONDA_BACKUP_${_slipway_name}}\""
    unset "_CONDA_BACKUP_${_slipway_name}"
  else
    unset "${_slipway_name}"
  fi
done
unset _slipway_name _slipway_known
