# libtorch_cuda holds the device code that src/cmake/TorchCUDAArchitectures.cmake names, and no other.
set -euo pipefail

library=$PREFIX/lib/libtorch_cuda.so
config=$PREFIX/share/cmake/TorchCUDA/TorchCUDAConfig.cmake
found=$({
  cuobjdump --list-elf "$library" | sed -n 's/.*\.\(sm_[0-9a-z]*\)\.cubin$/\1/p'
  cuobjdump --list-ptx "$library" | sed -n 's/.*\.sm_\([0-9a-z]*\)\.ptx$/compute_\1/p'
} | sort -u)
named=$(sed -n 's/^set(TORCH_CUDA_ARCH_LIST "\(.*\)")$/\1/p' "$config")
named=$(echo "${named// /$'\n'}" | sort)
echo "named: ${named//$'\n'/ }; found: ${found//$'\n'/ }"
[ "$named" = "$found" ]
