# Puts back what activate-rust_linux-64.sh changed.
unset CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER
