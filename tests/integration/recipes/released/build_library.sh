set -e
mkdir -p "$PREFIX/lib" "$PREFIX/include"
$CC $CFLAGS $LDFLAGS -shared -fPIC answer.c -Wl,-soname,libanswer.so.1 -o "$PREFIX/lib/libanswer.so.1"
ln -s libanswer.so.1 "$PREFIX/lib/libanswer.so"
cp answer.h "$PREFIX/include/"
