# Cargo links with the C compiler that is activated, and not with the machine's. It survives `set -eu`.
if [ -n "${CC:-}" ]; then export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER="${CC}"; fi
