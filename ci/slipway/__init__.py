"""slipway: renders a conda recipe's matrix, builds what changed, proves it, and ships it as a channel.

The spine is a chain of frozen types, each made from the one before it and never changed:

    Recipe (as written) -> Variant -> RenderedOutput -> Plan -> Artifact -> Finding -> Channel

Imports run one way, from the bottom of this list to its top:

    errors, proc, log, model    leaves, no logic of the domain
    recipe/                     pure: text in, RenderedOutputs out; no disk, no network
    engines/                    a RenderedOutput in, an Artifact out
    bootstrap/                  the embedded channel, from data files in ci/slipway/bootstrap/data
    verify/                     facts first, judgement second
    channel                     index, publish, solve, install
    report                      what people look at
    commands/                   one module per command
"""
