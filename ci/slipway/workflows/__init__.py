"""CI from a recipe's matrix: one job for each output in each variant, in the order in which they need each other.

    settings         settings.yaml: platforms, runners, images, memory; checked when loaded
    graph            outputs of a rendered recipe -> `Job`s and what each of them needs
    matrix           the jobs of every platform, and the words of their scripts
    github           the matrix -> a GitHub Actions workflow; `github_bodies` are the reusable ones that it calls
    gitlab           the matrix -> a GitLab pipeline, and the hidden jobs that it extends
    files            the texts (`yaml_text`), and whether those in the checkout are fresh
    job              what one job does: take what was handed on, build one output, hand it on
    handing          packages on their way between jobs
    scheduler        the same jobs without a CI, as many at once as memory and cores of the machines allow
    here             this machine, as one that does jobs
    fleet, worker    other machines, by dask.distributed; `network` says how they are reached
    measured_memory  what earlier runs needed, in place of what settings.yaml guesses

A job is known by its variant's identifier (`slipway.recipe.choose.identifier`), which also selects it on the command
line and names its folder and log.
"""
