"""Fast tests of slipway.bootstrap, each against small real things: wheels, Debian packages, apt repositories."""
