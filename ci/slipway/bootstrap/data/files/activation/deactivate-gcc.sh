# Puts back what activate-gcc.sh changed.
for _slipway_name in CC GCC CPP AR AS LD LD_GOLD NM RANLIB STRIP OBJCOPY OBJDUMP READELF SIZE STRINGS ADDR2LINE CXXFILT \
  ELFEDIT GPROF GCC_AR GCC_NM GCC_RANLIB CC_FOR_BUILD HOST BUILD host_alias build_alias CONDA_TOOLCHAIN_HOST \
  CONDA_TOOLCHAIN_BUILD CONDA_BUILD_SYSROOT CONDA_BUILD_CROSS_COMPILATION CFLAGS CPPFLAGS LDFLAGS CMAKE_PREFIX_PATH \
  PKG_CONFIG_LIBDIR CMAKE_ARGS; do
  eval "_slipway_known=\${_CONDA_BACKUP_${_slipway_name}+set}"
  if [ "${_slipway_known}" = set ]; then
    eval "export ${_slipway_name}=\"\${_CONDA_BACKUP_${_slipway_name}}\""
    unset "_CONDA_BACKUP_${_slipway_name}"
  else
    unset "${_slipway_name}"
  fi
done
unset _slipway_name _slipway_known
