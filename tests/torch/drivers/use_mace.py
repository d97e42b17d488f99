import numpy as np

import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
from ase.atoms import Atoms  # noqa: E402
from e3nn import o3  # noqa: E402
from mace import data, modules, tools  # noqa: E402
from mace.tools import torch_geometric  # noqa: E402

table = tools.AtomicNumberTable([1, 8])
m = modules.MACE(
    r_max=5,
    num_bessel=4,
    num_polynomial_cutoff=3,
    max_ell=2,
    interaction_cls=modules.interaction_classes["RealAgnosticResidualInteractionBlock"],
    interaction_cls_first=modules.interaction_classes["RealAgnosticResidualInteractionBlock"],
    num_interactions=2,
    num_elements=2,
    hidden_irreps=o3.Irreps("8x0e + 8x1o"),
    MLP_irreps=o3.Irreps("8x0e"),
    gate=torch.nn.functional.silu,
    atomic_energies=np.array([-1.0, -3.0]),
    avg_num_neighbors=2,
    atomic_numbers=table.zs,
    correlation=2,
)
a = Atoms("OHH", positions=[[0, 0, 0], [0.96, 0, 0], [-0.24, 0.93, 0]])
c = data.config_from_atoms(a)
d = data.AtomicData.from_config(c, z_table=table, cutoff=3.0)
b = next(iter(torch_geometric.dataloader.DataLoader([d, d], batch_size=2)))
o = m(b.to_dict(), training=True)
print(o["energy"], o["forces"].norm())
(o["energy"].sum() + o["forces"].pow(2).sum()).backward()
print(sum(float(p.grad.abs().sum()) for p in m.parameters() if p.grad is not None) > 0)
