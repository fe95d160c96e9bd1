"""Write a tiny model with random weights as GGUF: llama.cpp loads it, and answers any JSON Schema with nonsense.

    python tools/tiny_gguf.py OUT.gguf [TEXT …]

Needs the packages gguf and numpy. The tokeniser is byte-level BPE, trained on the texts given, so that words known
from them take few tokens. About a megabyte.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import gguf
import numpy as np

WIDTH, LAYERS, HEADS, KV_HEADS, HIDDEN, CONTEXT, MERGES = 64, 2, 4, 2, 128, 16384, 500
END, START, PAD = "<|im_end|>", "<|im_start|>", "<|endoftext|>"
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_SHORT_OF_PRINTABLE = -30.0
_ENDS_SOMETHING = 9.0
_PER_LETTER = 1.0


def byte_letters() -> list[str]:
    """GPT-2's letter for each byte: itself where it is printable, else one from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def merges_of(text: str, letters: list[str]) -> list[tuple[str, str]]:
    """The most frequent pairs of symbols within words, merged one after the other."""
    found = Counter(re.findall(r" ?[A-Za-z]+", text))
    words = {tuple(letters[byte] for byte in word.encode()): count for word, count in found.items() if count > 2}
    merges: list[tuple[str, str]] = []
    while len(merges) < MERGES:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, count in words.items():
            for pair in pairwise(word):
                pairs[pair] += count
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        words = {merged(word, best): count for word, count in words.items()}
    return merges


def merged(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    """The word with every occurrence of the pair made one symbol."""
    made: list[str] = []
    for symbol in word:
        if made and (made[-1], symbol) == pair:
            made[-1] += symbol
        else:
            made.append(symbol)
    return tuple(made)


def weights(tokens: list[str], letters: list[str]) -> dict[str, np.ndarray]:
    """Random weights. Dimension 0 of the stream is a constant no layer writes to; through it each token has a bias."""
    draw = np.random.default_rng(1)

    def matrix(rows: int, columns: int, spread: float) -> np.ndarray:
        return (draw.standard_normal((rows, columns)) * spread).astype(np.float32)

    embedding, output = matrix(len(tokens), WIDTH, 1.0), matrix(len(tokens), WIDTH, 0.15)
    embedding[:, 0] = 8.0
    output[:, 0] = [bias(token, letters) / 5.7 for token in tokens]  # what is left of 8 after normalising
    made = {"token_embd.weight": embedding, "output.weight": output, "output_norm.weight": np.ones(WIDTH, np.float32)}
    small, key_width = 1 / np.sqrt(WIDTH), WIDTH // HEADS * KV_HEADS
    shapes = {
        "attn_q": (WIDTH, WIDTH), "attn_k": (key_width, WIDTH), "attn_v": (key_width, WIDTH),
        "attn_output": (WIDTH, WIDTH), "ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH),
        "ffn_down": (WIDTH, HIDDEN),
    }  # fmt: skip
    for layer in range(LAYERS):
        for name, (rows, columns) in shapes.items():
            made[f"blk.{layer}.{name}.weight"] = matrix(rows, columns, small)
        for name in ("attn_output", "ffn_down"):
            made[f"blk.{layer}.{name}.weight"][0] = 0.0
        for name in ("attn_norm", "ffn_norm"):
            made[f"blk.{layer}.{name}.weight"] = np.ones(WIDTH, np.float32)
    return made


def bias(token: str, letters: list[str]) -> float:
    """Rather long tokens, short texts and lists, nothing but printable ASCII."""
    if token == END:
        return 2.0
    if token in (START, PAD) or any(not 0x20 <= letters.index(letter) < 0x7F for letter in token):
        return _SHORT_OF_PRINTABLE
    return _ENDS_SOMETHING if token in ('"', "]") else _PER_LETTER * min(4, len(token) - 1)


def write(path: Path, text: str) -> None:
    """The model's file."""
    letters = byte_letters()
    merges = merges_of(text, letters)
    tokens = list(dict.fromkeys([*letters, *("".join(pair) for pair in merges), PAD, START, END]))
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    control = (PAD, START, END)
    writer.add_token_types([gguf.TokenType.CONTROL if one in control else gguf.TokenType.NORMAL for one in tokens])
    writer.add_token_merges([" ".join(pair) for pair in merges])
    writer.add_bos_token_id(tokens.index(PAD))
    writer.add_eos_token_id(tokens.index(END))
    writer.add_pad_token_id(tokens.index(PAD))
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, values in weights(tokens, letters).items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(Path(sys.argv[1]), "\n".join(Path(name).read_text(encoding="utf-8") for name in sys.argv[2:]))
