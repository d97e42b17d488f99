"""Channels and the packages in them: read, written, indexed, solved and installed from."""
