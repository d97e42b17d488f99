"""Writes the repetitive part of torch from its YAML files.

The order of work is parse -> model -> api -> emit -> write if changed:

* `source` reads YAML and remembers the line of everything;
* `parse` turns text into the frozen types of `model`, or raises `DeclarationError` with file and line;
* `api` says what a schema is called in C++;
* `emit_*` fill the templates of `templates/`;
* `output` writes a file only when its text changed.

Run by CMake, while it configures, as `python -m torchgen`; needs Python 3.9 and PyYAML, nothing else.
"""
