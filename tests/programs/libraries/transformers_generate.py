"""A small language model of transformers writes: greedily, by chance, and with beams."""
# syncs per step: 133
# first blamed line: print(model.generate(

import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel

device = sys.argv[1]
torch.manual_seed(51)
config = GPT2Config(vocab_size=64, n_positions=64, n_embd=32, n_layer=2, n_head=2)
config.bos_token_id, config.eos_token_id, config.pad_token_id = 1, 2, 0
model = GPT2LMHeadModel(config).to(device).eval()
prompt = torch.randint(3, 64, (2, 5)).to(device)
for way in ({"do_sample": False}, {"do_sample": True, "top_k": 10, "top_p": 0.9}, {"num_beams": 3}):
    print(model.generate(prompt, max_new_tokens=8, **way).tolist())
