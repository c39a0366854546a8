"""A language model of two layers with random weights, as transformers saves one."""

from pathlib import Path

import pytest

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
    *("the", "sum", "of", "squares", "limit", "$", "+", "="),
]


def make_tiny_model(folder: Path) -> Path:
    """Save the model in a folder and return it; skip without the packages of the systems."""
    torch = pytest.importorskip("torch", reason="bin/setup --systems installs torch")
    transformers = pytest.importorskip("transformers", reason="bin/setup --systems installs it")
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    tokenizer = transformers.BertTokenizerFast(vocab=vocabulary, model_max_length=64)
    tokenizer.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        config = transformers.BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
        )
        transformers.BertModel(config).save_pretrained(folder)
    return folder
