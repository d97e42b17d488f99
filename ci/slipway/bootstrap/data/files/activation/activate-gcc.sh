# Activates the C compiler for the machines of _slipway_triplet. Names and meanings are those of conda-forge's compiler activation. It is sourced, also by
# scripts under `set -eu`: nothing here may fail or read a variable that is not set.
_slipway_set() { # NAME VALUE: export, and remember what was there for the deactivation
  eval "_slipway_known=\${$1+set}"
  if [ "${_slipway_known}" = set ]; then eval "export _CONDA_BACKUP_$1=\"\${$1}\""; fi
  eval "export $1=\"\$2\""
}

# conda-build leaves BUILD_PREFIX set while it tests, where only the environment of the test counts.
_slipway_builder=x86_64-conda-linux-gnu
_slipway_build="${CONDA_PREFIX:-}"
if [ "${CONDA_BUILD:-0}" = 1 ] && [ "${CONDA_BUILD_STATE:-BUILD}" != TEST ] && [ -n "${PREFIX:-}" ]; then
  if [ -n "${BUILD_PREFIX:-}" ]; then _slipway_build="${BUILD_PREFIX}"; fi
  _slipway_host="${PREFIX}"
  # No path of the build may reach the package, neither in debug information nor through __FILE__.
  _slipway_map=" -ffile-prefix-map=${SRC_DIR:-.}=/usr/local/src/conda/${PKG_NAME:-package}-${PKG_VERSION:-0}"
  _slipway_map="${_slipway_map} -ffile-prefix-map=${_slipway_host}=/usr/local/src/conda-prefix"
  _slipway_map="${_slipway_map} -ffile-prefix-map=${_slipway_build}=/usr/local/src/conda-build-prefix"
else
  _slipway_host="${_slipway_build}"
  _slipway_map=""
  # Tests of what was built for another processor have their tools beside their environment.
  if [ "${_slipway_triplet}" != "${_slipway_builder}" ]; then _slipway_host="${PREFIX:-${_slipway_host}}"; fi
fi
_slipway_tool="${_slipway_build}/bin/${_slipway_triplet}"

for _slipway_pair in CC:gcc GCC:gcc CPP:cpp AR:ar AS:as LD:ld LD_GOLD:ld.gold NM:nm RANLIB:ranlib STRIP:strip \
  OBJCOPY:objcopy OBJDUMP:objdump READELF:readelf SIZE:size STRINGS:strings ADDR2LINE:addr2line CXXFILT:c++filt \
  ELFEDIT:elfedit GPROF:gprof GCC_AR:gcc-ar GCC_NM:gcc-nm GCC_RANLIB:gcc-ranlib; do
  _slipway_set "${_slipway_pair%%:*}" "${_slipway_tool}-${_slipway_pair##*:}"
done
_slipway_set CC_FOR_BUILD "${_slipway_build}/bin/${_slipway_builder}-gcc"
for _slipway_name in HOST host_alias CONDA_TOOLCHAIN_HOST; do
  _slipway_set "${_slipway_name}" "${_slipway_triplet}"
done
for _slipway_name in BUILD build_alias CONDA_TOOLCHAIN_BUILD; do
  _slipway_set "${_slipway_name}" "${_slipway_builder}"
done
_slipway_set CONDA_BUILD_SYSROOT "${_slipway_build}/${_slipway_triplet}/sysroot"
_slipway_cross=""
_slipway_cross_flags=""
if [ "${_slipway_triplet}" != "${_slipway_builder}" ]; then
  _slipway_cross=1
  _slipway_cross_flags=" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=${_slipway_triplet%%-*}"
fi
_slipway_set CONDA_BUILD_CROSS_COMPILATION "${_slipway_cross}"

_slipway_flags="${_slipway_machine}-ftree-vectorize -fPIC -fstack-protector-strong -fno-plt -O2"
_slipway_flags="${_slipway_flags} -ffunction-sections -pipe -isystem ${_slipway_host}/include${_slipway_map}"
_slipway_set CFLAGS "${_slipway_flags}${CFLAGS:+ ${CFLAGS}}"
_slipway_set CPPFLAGS "-DNDEBUG -D_FORTIFY_SOURCE=2 -O2 -isystem ${_slipway_host}/include${CPPFLAGS:+ ${CPPFLAGS}}"
_slipway_flags="-Wl,-O2 -Wl,--sort-common -Wl,--as-needed -Wl,-z,relro -Wl,-z,now -Wl,--disable-new-dtags"
_slipway_flags="${_slipway_flags} -Wl,--gc-sections -Wl,--allow-shlib-undefined -Wl,-rpath,${_slipway_host}/lib"
_slipway_flags="${_slipway_flags} -Wl,-rpath-link,${_slipway_host}/lib -L${_slipway_host}/lib"
_slipway_set LDFLAGS "${_slipway_flags}${LDFLAGS:+ ${LDFLAGS}}"

_slipway_set CMAKE_PREFIX_PATH "${_slipway_host}${CMAKE_PREFIX_PATH:+:${CMAKE_PREFIX_PATH}}"
_slipway_set PKG_CONFIG_LIBDIR "${_slipway_host}/lib/pkgconfig:${_slipway_host}/share/pkgconfig"
_slipway_flags="-DCMAKE_BUILD_TYPE=Release${_slipway_cross_flags}"
for _slipway_pair in AR:ar RANLIB:ranlib LINKER:ld STRIP:strip NM:nm OBJCOPY:objcopy OBJDUMP:objdump READELF:readelf \
  ADDR2LINE:addr2line C_COMPILER_AR:gcc-ar CXX_COMPILER_AR:gcc-ar C_COMPILER_RANLIB:gcc-ranlib \
  CXX_COMPILER_RANLIB:gcc-ranlib; do
  _slipway_flags="${_slipway_flags} -DCMAKE_${_slipway_pair%%:*}=${_slipway_tool}-${_slipway_pair##*:}"
done
if [ "${CONDA_BUILD:-0}" = 1 ] && [ "${CONDA_BUILD_STATE:-BUILD}${_slipway_cross}" != TEST ]; then
  # Without these, CMake finds the libraries and headers of the machine.
  _slipway_flags="${_slipway_flags} -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY"
  _slipway_flags="${_slipway_flags} -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY"
  _slipway_flags="${_slipway_flags} -DCMAKE_FIND_ROOT_PATH=${_slipway_host};${CONDA_BUILD_SYSROOT}"
  _slipway_flags="${_slipway_flags} -DCMAKE_INSTALL_PREFIX=${_slipway_host} -DCMAKE_INSTALL_LIBDIR=lib"
fi
_slipway_set CMAKE_ARGS "${_slipway_flags}${CMAKE_ARGS:+ ${CMAKE_ARGS}}"

unset _slipway_triplet _slipway_machine _slipway_builder _slipway_cross _slipway_cross_flags _slipway_build _slipway_host _slipway_map _slipway_tool _slipway_flags _slipway_pair
unset _slipway_name _slipway_known
unset -f _slipway_set
