# Runs torchgen while CMake configures, which it does again whenever a declaration or the generator itself changes.
# Python >= 3.9 with PyYAML is needed for building only.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(TORCH_DECLARATION_FILES
  "${TORCH_SOURCE_ROOT}/c10/core/ScalarType.h"
  "${TORCH_SOURCE_ROOT}/aten/native_functions.yaml"
  "${TORCH_SOURCE_ROOT}/aten/kernels.yaml"
  "${TORCH_SOURCE_ROOT}/aten/derivatives.yaml"
  "${TORCH_SOURCE_ROOT}/aten/docstrings.yaml")
file(GLOB TORCH_TORCHGEN_FILES CONFIGURE_DEPENDS  # the generator's own parts: inputs of a command, not sources
  "${TORCH_SOURCE_ROOT}/torchgen/*.py" "${TORCH_SOURCE_ROOT}/torchgen/templates/*")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TORCH_DECLARATION_FILES} ${TORCH_TORCHGEN_FILES})

# torch_codegen(GROUP OUTPUT_VARIABLE): writes the files of torchgen's GROUP, those whose text changed; the paths of all of
# them in OUTPUT_VARIABLE.
function(torch_codegen group output_variable)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env "PYTHONPATH=${TORCH_SOURCE_ROOT}" PYTHONDONTWRITEBYTECODE=1
      ${Python3_EXECUTABLE} -m torchgen --source-dir ${TORCH_SOURCE_ROOT} --output-dir ${TORCH_GENERATED_ROOT}
      --only ${group} --print-outputs
    OUTPUT_VARIABLE outputs OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result ERROR_VARIABLE message)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "torchgen cannot generate the sources of `${group}`:\n${message}\n"
      "It needs Python >= 3.9 with PyYAML; `${Python3_EXECUTABLE}` was used (set Python3_EXECUTABLE to choose another).")
  endif()
  set(${output_variable} ${outputs} PARENT_SCOPE)
endfunction()
