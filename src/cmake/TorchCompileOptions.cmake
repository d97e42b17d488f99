# What every target of ours is compiled with. An interface target instead of global flags: what users of the installed
# package compile is their own affair.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
# Relative, so that the installed tree can be moved; libraries of one prefix lie together.
set(CMAKE_INSTALL_RPATH "$ORIGIN")

add_library(torch_compile_options INTERFACE)
if(MSVC)
  target_compile_options(torch_compile_options INTERFACE /W4 /permissive- /Zc:__cplusplus)
else()
  target_compile_options(torch_compile_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall>
    $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
    # Small: what nobody calls is dropped when the library is linked.
    $<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections>
    $<$<COMPILE_LANGUAGE:CXX>:-fdata-sections>
    # The same numbers on every machine: no fused multiply-add unless a kernel asks for it.
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
    # Nobody reads errno or floating point flags; without this sqrt, floor and comparisons do not vectorise.
    $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-trapping-math>
    # No path of the building machine in what is built.
    $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${TORCH_SOURCE_ROOT}/=>
    $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${CMAKE_BINARY_DIR}/=>)
  if(NOT APPLE)
    target_link_options(torch_compile_options INTERFACE
      LINKER:--gc-sections LINKER:--as-needed LINKER:--no-undefined)
  endif()
endif()

# What one library throws another catches: that takes one C++ runtime. Some compilers link a copy of it into each library.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT TORCH_CXX_RUNTIME)
  set(program "${CMAKE_BINARY_DIR}/CMakeFiles/cxx_runtime")
  file(WRITE "${program}.cpp" "#include <new>\nint main() { throw std::bad_alloc(); }\n")
  try_compile(is_linked "${CMAKE_BINARY_DIR}" "${program}.cpp" COPY_FILE "${program}")
  if(is_linked)
    file(STRINGS "${program}" names REGEX "lib(std)?c[+][+].*[.]so")
    if(NOT names)
      message(FATAL_ERROR "${CMAKE_CXX_COMPILER} links a copy of the C++ runtime into each library, so that none can catch what another "
        "throws. Have it link the shared one: LDFLAGS=\"-Wl,--no-as-needed -l:libstdc++.so.6\", or without -static-libstdc++.")
    endif()
    set(TORCH_CXX_RUNTIME "${names}" CACHE INTERNAL "The C++ runtime that is linked")
  endif()
endif()

# Every object of a build has them, C and tests too. What they find is reported, and the program goes on.
set(TORCH_SANITIZE "" CACHE STRING "What -fsanitize takes: `address,undefined` or `thread`; empty: nothing")
if(TORCH_SANITIZE)
  add_compile_options(-fsanitize=${TORCH_SANITIZE} -fsanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TORCH_SANITIZE})
endif()

# -O2 as a release: -O3 is for the kernels that ask for it.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# torch_library(NAME MACRO): settings that our shared libraries have in common. MACRO marks exported names while NAME is built.
function(torch_library name build_macro)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:torch_compile_options>)
  target_compile_definitions(${name} PRIVATE ${build_macro})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${TORCH_SOURCE_ROOT}>
    $<BUILD_INTERFACE:${TORCH_GENERATED_ROOT}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${name} PUBLIC cxx_std_17)
  add_library(torch::${name} ALIAS ${name})
endfunction()
