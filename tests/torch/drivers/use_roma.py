import roma

import torch

torch.manual_seed(0)
quaternions = roma.random_unitquat(5)
matrices = roma.unitquat_to_rotmat(quaternions)
print(quaternions[0], matrices[0], roma.rotmat_to_rotvec(matrices)[1], roma.unitquat_to_euler("xyz", quaternions)[2])
print(roma.special_procrustes(torch.randn(2, 3, 3)), roma.rotmat_geodesic_distance(matrices[0], matrices[1]))
print(roma.unitquat_slerp(quaternions[0], quaternions[1], torch.tensor([0.0, 0.3, 1.0])))
rotation, shift = roma.rigid_points_registration(torch.randn(7, 3), torch.randn(7, 3))
print(rotation, shift)
