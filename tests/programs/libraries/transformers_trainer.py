"""The Trainer of transformers trains a small language model."""
# syncs per step: 29/5
# first blamed line: trainer.train()

import sys
import tempfile

import torch
from accelerate.state import AcceleratorState
from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainingArguments

# The device is chosen once per process otherwise.
AcceleratorState._reset_state(True)
torch.manual_seed(50)
config = GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=2, n_head=2)
config.loss_type = "ForCausalLM"
model = GPT2LMHeadModel(config)
rows = torch.randint(64, (48, 16))
data = [{"input_ids": row, "labels": row} for row in rows]
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        output_dir=folder,
        max_steps=6,
        per_device_train_batch_size=4,
        logging_steps=2,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=sys.argv[1] == "cpu",
        seed=50,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=data)
    trainer.remove_callback(PrinterCallback)
    trainer.train()
print([entry["loss"] for entry in trainer.state.log_history if "loss" in entry])
print(sum(weight.abs().sum().item() for weight in model.parameters()))
