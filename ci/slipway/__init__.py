"""slipway: renders a conda recipe's matrix, builds what changed, proves it, and ships it as a channel.

The spine is a chain of frozen types, each made from the one before it and never changed:

    Recipe (as written) -> Variant -> RenderedOutput -> Plan -> Artifact -> Finding -> Channel

A room is a folder or a file of this one, and has a floor. Imports go down, and stand on top of a file. Rooms of one
floor do not know each other, but where a `<` says which of them stands on which.

    1  base                                what knows nothing of packages: errors, programs, files, events, text
    2  model                               the frozen types of the spine
    3  recipe, channel, source, observe    text in, outputs out; packages and channels; sources; what builds did
    4  engines, verify, bootstrap          an output in, an artifact out; judgement; the embedded channel
    5  report, request, cleanroom          what people look at; what was asked for; packages where nothing helps them
    6  pipeline, checkout                  what is done and why; what serves this checkout only
    7  workflows                           the same work as jobs, here and in CI
    8  commands                            one module per command
    9  console < cli < __main__            where errors become text and exit codes

`tests/slipway/test_order.py` reads this table and holds it.
"""
