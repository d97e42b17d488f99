# What `cmake --install --component core` puts where: libraries, headers, and a package that find_package(Torch) reads.
# Nothing in it holds an absolute path, so the tree can be moved.
include(CMakePackageConfigHelpers)
set(TORCH_CMAKE_DIR share/cmake/Torch)

install(TARGETS c10 torch_cpu torch EXPORT TorchTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT core
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT core
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT core)
install(EXPORT TorchTargets NAMESPACE torch:: DESTINATION ${TORCH_CMAKE_DIR} COMPONENT core)

# Not the bindings' headers (csrc/*.h, csrc/utils): what extensions may use of them is csrc/api, which comes with Python.
foreach(folder c10 aten torch)
  install(DIRECTORY "${TORCH_SOURCE_ROOT}/${folder}" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT core
    FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
    PATTERN "cuda" EXCLUDE PATTERN "native" EXCLUDE PATTERN "lib" EXCLUDE
    PATTERN "_*" EXCLUDE PATTERN "python*" EXCLUDE PATTERN "build" EXCLUDE
    REGEX "/torch/csrc/(api|utils|[a-z_]+\\.h)$" EXCLUDE)
endforeach()
install(DIRECTORY "${TORCH_GENERATED_ROOT}/aten" "${TORCH_GENERATED_ROOT}/torch"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT core
  FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "python*" EXCLUDE)
# PyTorch's name for <aten/ATen.h>; where file systems take both for one name, it is that already.
if(NOT WIN32 AND NOT APPLE)
  install(FILES "${TORCH_SOURCE_ROOT}/cmake/ATen.h" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ATen COMPONENT core)
endif()

set(TORCH_HEADER_DIR "${CMAKE_INSTALL_INCLUDEDIR}")
set(TORCH_LIBRARY_DIR "${CMAKE_INSTALL_LIBDIR}")
configure_package_config_file("${TORCH_SOURCE_ROOT}/cmake/TorchConfig.cmake.in" "${CMAKE_BINARY_DIR}/TorchConfig.cmake"
  INSTALL_DESTINATION ${TORCH_CMAKE_DIR} PATH_VARS TORCH_HEADER_DIR TORCH_LIBRARY_DIR)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/TorchConfigVersion.cmake"
  VERSION ${TORCH_VERSION_NUMBERS} COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/TorchConfig.cmake" "${CMAKE_BINARY_DIR}/TorchConfigVersion.cmake"
  DESTINATION ${TORCH_CMAKE_DIR} COMPONENT core)
