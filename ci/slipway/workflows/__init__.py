"""CI from a recipe's matrix: one job for each output in each variant, in the order in which they need each other.

    settings    settings.yaml: platforms, runners, images, memory; checked when loaded
    graph       outputs of a rendered recipe -> `Job`s and what each of them needs
    github      jobs -> a GitHub Actions workflow
    gitlab      jobs -> a GitLab pipeline
    files       the texts, and whether those in the checkout are fresh
    work        what one job does: take what was handed on, build one output, hand it on
    local       the same jobs on this machine, as many at once as memory and cores allow

A job is known by its variant's identifier (`slipway.recipe.choose.identifier`), which also selects it on the command
line and names its folder and log.
"""
