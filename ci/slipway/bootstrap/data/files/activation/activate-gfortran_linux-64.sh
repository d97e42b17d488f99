# Activates the Fortran compiler; runs after activate-gcc_linux-64.sh. It survives `set -eu`.
_slipway_set() { # NAME VALUE: export, and remember what was there for the deactivation
  eval "_slipway_known=\${$1+set}"
  if [ "${_slipway_known}" = set ]; then eval "export _CONDA_BACKUP_$1=\"\${$1}\""; fi
  eval "export $1=\"\$2\""
}

_slipway_build="${CONDA_PREFIX:-}"
if [ "${CONDA_BUILD:-0}" = 1 ] && [ "${CONDA_BUILD_STATE:-BUILD}" != TEST ] && [ -n "${PREFIX:-}" ]; then
  if [ -n "${BUILD_PREFIX:-}" ]; then _slipway_build="${BUILD_PREFIX}"; fi
  _slipway_host="${PREFIX}"
  _slipway_map=" -ffile-prefix-map=${SRC_DIR:-.}=/usr/local/src/conda/${PKG_NAME:-package}-${PKG_VERSION:-0}"
  _slipway_map="${_slipway_map} -ffile-prefix-map=${_slipway_host}=/usr/local/src/conda-prefix"
  _slipway_map="${_slipway_map} -ffile-prefix-map=${_slipway_build}=/usr/local/src/conda-build-prefix"
else
  _slipway_host="${_slipway_build}"
  _slipway_map=""
fi
for _slipway_name in FC F77 F90 F95 GFORTRAN FC_FOR_BUILD; do
  _slipway_set "${_slipway_name}" "${_slipway_build}/bin/x86_64-conda-linux-gnu-gfortran"
done
_slipway_flags="-march=nocona -mtune=haswell -ftree-vectorize -fPIC -fstack-protector-strong -fno-plt -O2"
_slipway_flags="${_slipway_flags} -ffunction-sections -pipe -isystem ${_slipway_host}/include${_slipway_map}"
for _slipway_name in FFLAGS FORTRANFLAGS; do
  eval "_slipway_known=\"\${${_slipway_name}:-}\""
  _slipway_set "${_slipway_name}" "${_slipway_flags}${_slipway_known:+ ${_slipway_known}}"
done

unset _slipway_build _slipway_host _slipway_map _slipway_flags _slipway_name _slipway_known
unset -f _slipway_set
