import pytorch_kinematics as pk

import torch

URDF = """<robot name="arm"><link name="base"/><link name="one"/><link name="two"/><link name="hand"/>
<joint name="a" type="revolute"><parent link="base"/><child link="one"/><origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="b" type="revolute"><parent link="one"/><child link="two"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="c" type="fixed"><parent link="two"/><child link="hand"/><origin xyz="0.2 0 0.1"/></joint></robot>"""
chain = pk.build_serial_chain_from_urdf(URDF, "hand")
angles = torch.tensor([[0.3, -0.5], [1.0, 0.2]], requires_grad=True)
matrices = chain.forward_kinematics(angles).get_matrix()
matrices[:, :3, 3].square().sum().backward()
print(matrices.detach(), angles.grad.norm(), chain.jacobian(angles.detach()))
