import logging

import anndata
import numpy as np
import scvi

logging.disable(logging.CRITICAL)
scvi.settings.seed = 0
g = np.random.RandomState(0)
a = anndata.AnnData(g.poisson(2, (60, 20)).astype(np.float32))
scvi.model.SCVI.setup_anndata(a)
m = scvi.model.SCVI(a, n_latent=3, n_hidden=16)
m.train(max_epochs=2, accelerator="cpu", enable_progress_bar=False, logger=False)
print(m.get_latent_representation().shape, np.round(m.get_latent_representation()[0], 3), round(float(m.get_elbo()), 2))
