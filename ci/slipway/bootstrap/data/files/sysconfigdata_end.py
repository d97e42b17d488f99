import sys as _sys  # the prefix is that of the running Python: so the file can be compiled before it has one

build_time_vars = {
    name: value.replace("@prefix@", _sys.base_prefix) if isinstance(value, str) else value
    for name, value in build_time_vars.items()  # noqa: F821  (this is the end of a file that begins with them)
}
