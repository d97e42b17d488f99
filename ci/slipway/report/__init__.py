"""What a run did, drawn afterwards: as a page (`page`, `jobs_page`) and for a terminal (`text`).

The journal and the logs are data; a report is a function of them and of the channel, so that a run that was killed
still has its part, and any report can be made again: ``slipway report``.
"""
