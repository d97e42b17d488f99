"""Releases: packages that were built become a tag, a signed channel, and wheels that pip installs.

wheels          installed packages -> a wheel, with the libraries that it needs, held to a policy of manylinux
simple_index    wheels -> an index that pip reads, beside a published channel
steps           what a release consists of, in an order in which whoever is cut off can go on
"""
