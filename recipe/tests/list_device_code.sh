# libtorch_cuda holds the device code that src/cmake/TorchCUDA.cmake names, and no other.
set -euo pipefail

library=$PREFIX/lib/libtorch_cuda.so
{
  cuobjdump --list-elf "$library" | sed -n 's/.*\.\(sm_[0-9a-z]*\)\.cubin$/\1/p'
  cuobjdump --list-ptx "$library" | sed -n 's/.*\.sm_\([0-9a-z]*\)\.ptx$/compute_\1/p'
} | LC_ALL=C sort -u | tee found.txt
sed -n 's/^set(TORCH_CUDA_ARCH_LIST "\(.*\)")$/\1/p' "$PREFIX/share/cmake/TorchCUDA/TorchCUDAConfig.cmake" | tr ' ' '\n' | LC_ALL=C sort > named.txt
diff named.txt found.txt
