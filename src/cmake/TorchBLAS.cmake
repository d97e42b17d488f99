# Finds a BLAS with LAPACK and makes the target torch_blas. Sets TORCH_BLAS_NAME and TORCH_BLAS_LIBRARIES, and
# TORCH_FFT_SOURCE and TORCH_FFT_INCLUDE_DIR: what makes Fourier transforms.
#
#   MKL        the LP64 interface on GNU OpenMP, linked in three parts: mkl_rt would choose its threading at run time, and
#              a second OpenMP runtime in the process is how programs hang.
#   OpenBLAS   libopenblas, which brings cblas and LAPACK
#   Generic    any libcblas and liblapack (the reference ones)
#
# torch_blas is for linking only. Which BLAS it is stands in aten/BuildConfig.h: a definition or a folder of headers on
# every compiler's command line would have each file compiled once per BLAS, whatever a compiler cache holds.

add_library(torch_blas INTERFACE)
set(TORCH_BLAS_NAME "")

function(torch_find_mkl)
  find_path(MKL_INCLUDE_DIR mkl_cblas.h PATH_SUFFIXES mkl)
  foreach(part mkl_intel_lp64 mkl_gnu_thread mkl_core)
    # Wheels and conda packages have versioned names (libmkl_core.so.2).
    find_library(${part}_LIBRARY NAMES ${part} lib${part}.so.2 lib${part}.so.3)
    list(APPEND libraries ${${part}_LIBRARY})
  endforeach()
  if(MKL_INCLUDE_DIR AND mkl_intel_lp64_LIBRARY AND mkl_gnu_thread_LIBRARY AND mkl_core_LIBRARY)
    # The parts call each other, and mkl_core's kernels are opened by name later: keep all three whatever --as-needed says.
    target_link_libraries(torch_blas INTERFACE
      "-Wl,--push-state,--no-as-needed" ${libraries} "-Wl,--pop-state" OpenMP::OpenMP_CXX m dl)
    set(TORCH_BLAS_NAME MKL PARENT_SCOPE)
    set(TORCH_BLAS_LIBRARIES "${libraries}" PARENT_SCOPE)
  endif()
endfunction()

function(torch_find_openblas)
  find_path(OPENBLAS_INCLUDE_DIR openblas_config.h PATH_SUFFIXES openblas ${CMAKE_LIBRARY_ARCHITECTURE})
  find_library(OPENBLAS_LIBRARY openblas)
  if(OPENBLAS_INCLUDE_DIR AND OPENBLAS_LIBRARY)
    target_link_libraries(torch_blas INTERFACE "${OPENBLAS_LIBRARY}")
    set(TORCH_BLAS_NAME OpenBLAS PARENT_SCOPE)
    set(TORCH_BLAS_LIBRARIES "${OPENBLAS_LIBRARY}" PARENT_SCOPE)
  endif()
endfunction()

# Fourier transforms: MKL has them; beside any other BLAS, Eigen's.
function(torch_find_fft)
  if(TORCH_BLAS_NAME STREQUAL MKL)
    set(TORCH_FFT_SOURCE fft_mkl.cpp PARENT_SCOPE)
    set(TORCH_FFT_INCLUDE_DIR "${MKL_INCLUDE_DIR}" PARENT_SCOPE)
    return()
  endif()
  find_path(EIGEN_INCLUDE_DIR unsupported/Eigen/FFT PATH_SUFFIXES eigen3)
  if(NOT EIGEN_INCLUDE_DIR)
    message(FATAL_ERROR "No Fourier transforms: beside ${TORCH_BLAS_NAME} they are Eigen's, and its headers were not found.\n"
      "Install them (Debian: libeigen3-dev; conda: eigen), or name their prefix in CMAKE_PREFIX_PATH.")
  endif()
  set(TORCH_FFT_SOURCE fft_eigen.cpp PARENT_SCOPE)
  set(TORCH_FFT_INCLUDE_DIR "${EIGEN_INCLUDE_DIR}" PARENT_SCOPE)
endfunction()

function(torch_find_generic)
  find_path(CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE})
  find_library(CBLAS_LIBRARY cblas)
  find_library(LAPACK_LIBRARY lapack)
  if(CBLAS_INCLUDE_DIR AND CBLAS_LIBRARY AND LAPACK_LIBRARY)
    target_link_libraries(torch_blas INTERFACE "${CBLAS_LIBRARY}" "${LAPACK_LIBRARY}")
    set(TORCH_BLAS_NAME Generic PARENT_SCOPE)
    set(TORCH_BLAS_LIBRARIES "${CBLAS_LIBRARY};${LAPACK_LIBRARY}" PARENT_SCOPE)
  endif()
endfunction()

find_package(OpenMP REQUIRED COMPONENTS CXX)
if(TORCH_BLAS AND NOT TORCH_BLAS MATCHES "^(MKL|OpenBLAS|Generic)$")
  message(FATAL_ERROR "TORCH_BLAS is `${TORCH_BLAS}`; it can be MKL, OpenBLAS, Generic, or empty to take the first that is found")
endif()
foreach(candidate MKL OpenBLAS Generic)
  if(TORCH_BLAS_NAME STREQUAL "" AND (NOT TORCH_BLAS OR TORCH_BLAS STREQUAL candidate))
    string(TOLOWER ${candidate} suffix)
    cmake_language(CALL torch_find_${suffix})
  endif()
endforeach()
if(TORCH_BLAS_NAME STREQUAL "")
  if(TORCH_BLAS)
    set(wanted "${TORCH_BLAS} (TORCH_BLAS)")
  else()
    set(wanted "MKL, OpenBLAS and a generic CBLAS")
  endif()
  message(FATAL_ERROR "No BLAS: looked for ${wanted} with their headers.\n"
    "Install one (Debian: libopenblas-dev; conda: mkl-devel or libblas), or name its prefix in CMAKE_PREFIX_PATH.")
endif()
torch_find_fft()
