# SPDX-License-Identifier: MIT
"""Hugging Face's Trainer with a small GPT-2 on random tokens."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Tokens(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        tokens = torch.randint(0, 1000, (64,))
        return {"input_ids": tokens, "labels": tokens}


def main():
    model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=64, n_embd=64, n_layer=2, n_head=2,
                                       bos_token_id=0, eos_token_id=0))
    arguments = TrainingArguments("trainer-out", per_device_train_batch_size=8, max_steps=20, report_to=[],
                                  save_strategy="no", disable_tqdm=True)
    Trainer(model=model, args=arguments, train_dataset=Tokens()).train()


main()
