# torch._C is a stub; the module itself is `initModule` in libtorch_python. Also: no CUDA library is linked.
set -euo pipefail

package=$(python -c 'import pathlib, torch; print(pathlib.Path(torch.__file__).parent)')
library=$package/lib/libtorch_python.so
nm -D --defined-only "$library" | grep -E ' T initModule$'
if readelf -d "$library" | grep -E 'NEEDED.*(cuda|cublas)'; then
  echo "libtorch_python.so links CUDA" >&2
  exit 1
fi
