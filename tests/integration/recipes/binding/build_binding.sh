mkdir -p "$SP_DIR"
$CXX -std=c++17 -O2 -shared -fPIC $("$PYTHON" -m pybind11 --includes) -I "$PREFIX/include" binding.cpp \
  -L "$PREFIX/lib" -Wl,-rpath,"$PREFIX/lib" -lweights -o "$SP_DIR/weights$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')"
