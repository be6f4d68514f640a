"""Low-rank adapters beside the frozen weights of a small encoder, as PEFT adds them."""
# syncs per step: 1
# first blamed line: print(step, loss.item())

import sys

import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification


class Adapted(nn.Module):
    def __init__(self, base, rank=2, alpha=4):
        super().__init__()
        self.base, self.scale = base, alpha / rank
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, inputs):
        return self.base(inputs) + self.up(self.down(inputs)) * self.scale


device = sys.argv[1]
torch.manual_seed(54)
config = BertConfig(
    vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
)
model = BertForSequenceClassification(config)
model.requires_grad_(False)
for layer in model.bert.encoder.layer:
    layer.attention.self.query = Adapted(layer.attention.self.query)
    layer.attention.self.value = Adapted(layer.attention.self.value)
model.classifier.requires_grad_(True)
model.to(device)
trained = [weight for weight in model.parameters() if weight.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-2)
tokens = torch.randint(64, (8, 12)).to(device)
labels = torch.randint(2, (8,)).to(device)
for step in range(6):
    loss = model(input_ids=tokens, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(sum(weight.abs().sum().item() for weight in trained))
