"""Lightning trains a small classifier and shows its loss beside the progress bar."""
# syncs per step: 3
# first blamed line: trainer.fit(model, loader)

import logging
import sys

import lightning
import torch
from torch import nn

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
lightning.seed_everything(52, verbose=False)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))

    def training_step(self, batch, index):
        inputs, labels = batch
        loss = nn.functional.cross_entropy(self.body(inputs), labels)
        self.log("loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


data = torch.utils.data.TensorDataset(torch.randn(48, 8), torch.randint(3, (48,)))
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
trainer = lightning.Trainer(
    accelerator="cpu" if sys.argv[1] == "cpu" else "gpu",
    devices=1,
    max_epochs=2,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
model = Classifier()
trainer.fit(model, loader)
print(trainer.callback_metrics["loss"].item())
print(sum(weight.abs().sum().item() for weight in model.parameters()))
