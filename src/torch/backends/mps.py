"""Apple's Metal: not built in."""


def is_built() -> bool:
    """Whether this torch was built for it: no."""
    return False


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Whether this is macOS of at least this version: no."""
    return False
