# cmake -DVERSION=... -DROOT=... -DOUTPUT=... -DINPUTS="a.h|b.h" -P WriteAbiTag.cmake
# Writes the header that defines TORCH_ABI_TAG: the version and a hash over what a plug-in was compiled against.
string(REPLACE "|" ";" INPUTS "${INPUTS}")
set(digests "")
foreach(file IN LISTS INPUTS)
  file(SHA256 "${ROOT}/${file}" digest)
  string(APPEND digests "${file} ${digest}\n")
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING "${digest}" 0 16 digest)
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#pragma once
// Written by the build: what aten/Plugin.h compares before it believes a plug-in.
#define TORCH_ABI_TAG "@VERSION@-@digest@"
]])
