"""Super resolution by shuffled pixels, orthogonal weights, a test of the signal to noise."""
# syncs per step: 3
# first blamed line: source, wanted = source.to(device), wanted.to(device)

import math
import sys

import torch
from torch import nn

device = torch.device(sys.argv[1])
torch.manual_seed(24)


class Upscaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            [
                nn.Conv2d(1, 16, 5, padding=2),
                nn.Conv2d(16, 8, 3, padding=1),
                nn.Conv2d(8, 4, 3, padding=1),
            ]
        )
        self.shuffle = nn.PixelShuffle(2)
        for layer in self.layers[:2]:
            nn.init.orthogonal_(layer.weight, nn.init.calculate_gain("relu"))
        nn.init.orthogonal_(self.layers[2].weight)

    def forward(self, x):
        for layer in self.layers[:2]:
            x = torch.relu(layer(x))
        return self.shuffle(self.layers[2](x))


large = torch.rand(24, 1, 16, 16)
small = nn.functional.interpolate(large, scale_factor=0.5, mode="bilinear", antialias=True)
pairs = torch.utils.data.TensorDataset(small, large)
train, test = torch.utils.data.random_split(pairs, [16, 8])
model, criterion = Upscaler().to(device), nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    total = 0
    for source, wanted in torch.utils.data.DataLoader(train, batch_size=4, shuffle=True):
        source, wanted = source.to(device), wanted.to(device)
        optimizer.zero_grad()
        loss = criterion(model(source), wanted)
        total += loss.item()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        noise = 0
        for source, wanted in torch.utils.data.DataLoader(test, batch_size=4):
            noise += 10 * math.log10(
                1 / criterion(model(source.to(device)), wanted.to(device)).item()
            )
    print(epoch, total, noise)
