"""The embedded channel: conda packages under conda-forge's names, assembled from wheels and Debian packages.

    settings, packages/*.yaml -> inventory -> PackageDescription        (what there is; pure)
    lock, apt's index         -> ResolvedSource                         (what goes in, by sha256)
    wheels, debs, interpreter -> sources -> assemble -> writer          (a .conda file in the cache)
    index                     -> EmbeddedChannel                        (a folder that solvers read)

`ensure.ensure_channel` does all of it, or nothing when the cache already holds the answer. `embedded` is what commands
call; `pins` is the configuration that goes with the channel.
"""
