"""The store of compiled files, and the server that compilers reach it through."""
