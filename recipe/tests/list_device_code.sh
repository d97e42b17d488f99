# libtorch_cuda holds machine code for sm_80 and sm_90, and PTX for what comes after them.
set -euo pipefail

library=$PREFIX/lib/libtorch_cuda.so
cuobjdump --list-elf "$library" > device-code.txt
cuobjdump --list-ptx "$library" >> device-code.txt
for architecture in sm_80 sm_90; do
  grep -m 1 "$architecture.*cubin" device-code.txt
done
grep -m 1 'ptx' device-code.txt
