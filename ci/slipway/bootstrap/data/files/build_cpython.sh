# Builds CPython in the working directory, with the compilers and libraries of $PREFIX, and installs it there.
# By their usual names, which sysconfig keeps: an environment need not have these compilers.
mkdir names
for name in gcc g++ ar ranlib; do
  ln -s "$PREFIX/bin/x86_64-conda-linux-gnu-$name" "names/$name"
done
export PATH=$PWD/names:$PATH CC=gcc CXX=g++ AR=ar RANLIB=ranlib
export PKG_CONFIG=$PREFIX/bin/pkg-config PKG_CONFIG_PATH=$PREFIX/lib/pkgconfig
export CFLAGS=-O3 CPPFLAGS="-I$PREFIX/include -I$PREFIX/include/ncursesw" LDFLAGS="-L$PREFIX/lib -Wl,-rpath,$PREFIX/lib"
# The day of every file that remembers one, so that two builds are alike.
export SOURCE_DATE_EPOCH=1577836800
./configure --prefix="$PREFIX" --enable-shared --with-system-expat --with-openssl="$PREFIX" --with-dbmliborder= \
  --enable-loadable-sqlite-extensions --without-ensurepip $(./configure --help | grep -o -e --disable-test-modules)
make -j "$JOBS"
make install
# A module that was not built for want of a header is found here, not by those who use it.
version=$(sed -n 's/^VERSION= *\t*//p' Makefile)
"$PREFIX/bin/python$version" -I -c "import bz2, ctypes, curses, decimal, lzma, pyexpat, readline, sqlite3, ssl, uuid, zlib"
