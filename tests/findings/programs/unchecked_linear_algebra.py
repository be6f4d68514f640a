"""The variants that report errors in a tensor, and products that cannot fail."""

import torch

device = torch.device("cuda")
matrix = torch.eye(4, device=device) * 2
vector = torch.ones(4, device=device)
for update in range(5):
    inverse, _ = torch.linalg.inv_ex(matrix)  # no SP311
    factor, _ = torch.linalg.cholesky_ex(matrix)  # no SP311, no SP300
    norm = torch.linalg.vector_norm(vector)  # no SP311
    column = vector.unsqueeze(1)
    vector = torch.linalg.solve_triangular(factor, column, upper=False).squeeze(1)  # no SP311
    matrix = matrix + 0.01 * inverse * norm
