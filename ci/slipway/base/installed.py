"""What is installed in the Python that runs slipway."""

import importlib.metadata


def installed_version(project: str) -> str:
    """The version of a project that slipway's lock file names."""
    return importlib.metadata.version(project)
