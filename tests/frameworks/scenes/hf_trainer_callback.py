# SPDX-License-Identifier: MIT
"""A tiny GPT-2 in the Hugging Face Trainer; a callback keeps what the model says to one prompt after each step."""
# leaky: fails at KEPT; verdict growing; advice detach; kept by .answers (list)
# clean: passes
# needs: transformers accelerate
import sys
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

LEAKY = sys.argv[1] == "leaky"


class Texts(Dataset):
    def __len__(self):
        return 4 * 60

    def __getitem__(self, index):
        tokens = torch.arange(64) % 500
        return {"input_ids": tokens, "labels": tokens}


class Probe(TrainerCallback):
    """Follows the answer to one prompt."""

    def __init__(self):
        self.prompt = torch.arange(64)[None].cuda()
        self.answers = []

    def on_step_end(self, args, state, control, model=None, **kwargs):
        logits = model(self.prompt).logits  # KEPT
        self.answers.append(logits if LEAKY else logits.argmax(dim=-1).cpu())


model = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_positions=64, n_embd=128, n_layer=2, n_head=4))
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(folder, per_device_train_batch_size=4, max_steps=60, report_to=[], save_strategy="no",
                                  disable_tqdm=True)
    Trainer(model, arguments, train_dataset=Texts(), callbacks=[Probe()]).train()
