from sbi.inference import NPE
from sbi.utils import BoxUniform

import torch

torch.manual_seed(0)
prior = BoxUniform(-2 * torch.ones(2), 2 * torch.ones(2))
theta = prior.sample((200,))
x = theta + 0.1 * torch.randn_like(theta)
inference = NPE(prior=prior, density_estimator="maf", show_progress_bars=False)
estimator = inference.append_simulations(theta, x).train(max_num_epochs=3, training_batch_size=50)
posterior = inference.build_posterior(estimator)
print(theta[:2], [f"{value:.3f}" for value in inference.summary["training_loss"]])
print(
    posterior.log_prob(torch.zeros(1, 2), x=torch.zeros(2)),
    posterior.sample((5,), x=torch.zeros(2), show_progress_bars=False).shape,
)
