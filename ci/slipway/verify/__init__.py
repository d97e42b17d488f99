"""Proof before publication: a package's facts are read first, then policies, which are data, judge them.

`slipway.channel.archive` reads the package as a stream; `elf`, `fatbin` and `traces` read its files; `facts` puts it
together; `surroundings` looks at what is around it; `policies` loads ``data/``; `rules` judges; `verifier` does all of
that; `findings` prints what came of it.
"""
