set -eu
# No flag of its own: what compilers get here is what every recipe's compilers get.
for source in *.c; do
  "$BUILD_PREFIX/bin/sccache" "$CC" $CFLAGS -g -c "$PWD/$source" -o "${source%.c}.o"
done
mkdir -p "$PREFIX/lib"
"$CC" -shared $LDFLAGS ./*.o -o "$PREFIX/lib/libcached.so"
