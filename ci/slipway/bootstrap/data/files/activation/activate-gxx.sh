# Activates the C++ compiler for the machines of _slipway_triplet; runs after the C compiler's script. It survives `set -eu`.
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
  if [ "${_slipway_triplet}" != x86_64-conda-linux-gnu ]; then _slipway_host="${PREFIX:-${_slipway_host}}"; fi
fi
for _slipway_name in CXX GXX; do
  _slipway_set "${_slipway_name}" "${_slipway_build}/bin/${_slipway_triplet}-g++"
done
_slipway_set CXX_FOR_BUILD "${_slipway_build}/bin/x86_64-conda-linux-gnu-g++"
_slipway_flags="-fvisibility-inlines-hidden -fmessage-length=0 ${_slipway_machine}-ftree-vectorize -fPIC"
_slipway_flags="${_slipway_flags} -fstack-protector-strong -fno-plt -O2 -ffunction-sections -pipe"
_slipway_flags="${_slipway_flags} -isystem ${_slipway_host}/include${_slipway_map}"
_slipway_set CXXFLAGS "${_slipway_flags}${CXXFLAGS:+ ${CXXFLAGS}}"

unset _slipway_triplet _slipway_machine _slipway_build _slipway_host _slipway_map _slipway_flags _slipway_name _slipway_known
unset -f _slipway_set
