# Activates the CUDA compiler with the environment's gcc as its host compiler. Its name sorts behind the compilers'
# scripts, which set CXX. It survives `set -eu`. CUDA_PATH and CUDA_HOME of the machine are hidden: they would lead CMake
# and nvcc to another toolkit.
_slipway_keep() { # NAME: remember what was there for the deactivation
  eval "_slipway_known=\${$1+set}"
  if [ "${_slipway_known}" = set ]; then eval "export _CONDA_NVCC_BACKUP_$1=\"\${$1}\""; fi
}
_slipway_set() { # NAME VALUE
  _slipway_keep "$1"
  eval "export $1=\"\$2\""
}

_slipway_build="${CONDA_PREFIX:-}"
_slipway_map=""
if [ "${CONDA_BUILD:-0}" = 1 ] && [ "${CONDA_BUILD_STATE:-BUILD}" != TEST ] && [ -n "${PREFIX:-}" ]; then
  if [ -n "${BUILD_PREFIX:-}" ]; then _slipway_build="${BUILD_PREFIX}"; fi
  _slipway_host="${PREFIX}"
  _slipway_map=" -Xcompiler=-ffile-prefix-map=${SRC_DIR:-.}=/usr/local/src/conda/${PKG_NAME:-package}-${PKG_VERSION:-0}"
  _slipway_map="${_slipway_map} -Xcompiler=-ffile-prefix-map=${_slipway_host}=/usr/local/src/conda-prefix"
  _slipway_map="${_slipway_map} -Xcompiler=-ffile-prefix-map=${_slipway_build}=/usr/local/src/conda-build-prefix"
else
  _slipway_host="${_slipway_build}"
fi
_slipway_target="${_slipway_host}/targets/x86_64-linux"
_slipway_cxx="${_slipway_build}/bin/x86_64-conda-linux-gnu-g++"

for _slipway_name in CUDA_PATH CUDA_HOME; do
  _slipway_keep "${_slipway_name}"
  unset "${_slipway_name}"
done
_slipway_set CUDACXX "${_slipway_build}/bin/nvcc"
_slipway_set CUDAHOSTCXX "${_slipway_cxx}"
# CUDA 12.4's wheels lack the libraries that nvcc links by default.
_slipway_flags="-ccbin=${_slipway_cxx}"
if [ ! -e "${_slipway_build}/targets/x86_64-linux/lib/libcudart_static.a" ]; then
  _slipway_flags="${_slipway_flags} --cudart=shared --cudadevrt=none"
fi
_slipway_set NVCC_PREPEND_FLAGS "${_slipway_flags}${NVCC_PREPEND_FLAGS:+ ${NVCC_PREPEND_FLAGS}}"
_slipway_flags="-I${_slipway_target}/include -L${_slipway_target}/lib -L${_slipway_target}/lib/stubs"
_slipway_flags="${_slipway_flags}${_slipway_map}"
_slipway_set NVCC_APPEND_FLAGS "${_slipway_flags}${NVCC_APPEND_FLAGS:+ ${NVCC_APPEND_FLAGS}}"
for _slipway_name in CFLAGS CPPFLAGS CXXFLAGS; do
  eval "_slipway_flags=\${${_slipway_name}:-}"
  _slipway_set "${_slipway_name}" "${_slipway_flags:+${_slipway_flags} }-isystem ${_slipway_target}/include"
done
_slipway_flags="-L${_slipway_target}/lib -L${_slipway_target}/lib/stubs -Wl,-rpath-link,${_slipway_target}/lib"
_slipway_set LDFLAGS "${LDFLAGS:+${LDFLAGS} }${_slipway_flags}"

_slipway_flags="-DCMAKE_CUDA_COMPILER=${CUDACXX} -DCMAKE_CUDA_HOST_COMPILER=${_slipway_cxx}"
_slipway_flags="${_slipway_flags} -DCUDAToolkit_ROOT=${_slipway_host};${_slipway_target};${_slipway_build}"
if [ "${CONDA_BUILD:-0}" = 1 ] && [ "${CONDA_BUILD_STATE:-BUILD}" != TEST ]; then
  _slipway_flags="${_slipway_flags} -DCMAKE_FIND_ROOT_PATH=${_slipway_host};${_slipway_target};${_slipway_build}"
  _slipway_flags="${_slipway_flags};${_slipway_build}/targets/x86_64-linux;${CONDA_BUILD_SYSROOT:-}"
fi
_slipway_set CMAKE_ARGS "${CMAKE_ARGS:+${CMAKE_ARGS} }${_slipway_flags}"

unset _slipway_build _slipway_map _slipway_host _slipway_target _slipway_cxx _slipway_name _slipway_flags _slipway_known
unset -f _slipway_set _slipway_keep
