"""Secrets of command lines and error texts, and what only looks like one."""

from __future__ import annotations

import shlex
import time

import pytest

from syncprobe.profiles.masking import masked, masked_words


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("--api-token=abc123xyz --lr 3", "--api-token=*** --lr 3"),
        ("--password hunter2 --seed 1", "--password *** --seed 1"),
        ("--wandb.api_key=0123abc", "--wandb.api_key=***"),
        ("API_KEY=0123abc train", "API_KEY=*** train"),
        ("--token --verbose", "--token --verbose"),
        ("--url https://me:hidden@host/path", "--url https://***@host/path"),
        ("--model hf_abcdefghijkl", "--model ***"),
        ("--key-size 4 --secret-key s3cr3t", "--key-size 4 --secret-key ***"),
    ],
)
def test_secrets_of_a_command_line_are_not_kept(line, shown):
    assert masked_words(shlex.split(line)) == shlex.split(shown)


@pytest.mark.parametrize(
    "line",
    [
        "--tokenizer gpt2 --max-tokens 128",
        "--token 5 --author me --keys a,b",
        "--config token.yaml --name=secretary",
        "--eyes 2 --keyboard us",
    ],
)
def test_what_only_sounds_like_a_secret_is_kept(line):
    assert masked_words(shlex.split(line)) == shlex.split(line)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "ConnectionError: https://me:pass@host refused; token=abc123, status: 403",
            "ConnectionError: https://***@host refused; token=*** status: 403",
        ),
        ("cannot log in: token=abc123 PASSWORD=x1", "cannot log in: token=*** PASSWORD=***"),
        ("{'token': 'abc123', 'step': 3}", "{'token': '***', 'step': 3}"),
        ('{"password": "two words", "a": 1}', '{"password": "***", "a": 1}'),
        ("headers Authorization: Bearer abc.def", "headers Authorization: Bearer ***"),
        ("a:b:secret:c", "a:b:secret:***"),
        (
            "loss: nan at step: 4: url=http://host:80/x",
            "loss: nan at step: 4: url=http://host:80/x",
        ),
    ],
)
def test_texts_of_errors_are_masked_too(text, shown):
    assert masked(text) == shown


@pytest.mark.parametrize("text", ["a", "a:", "-", "token ", "://a", "x=y", "'"])
def test_what_is_long_takes_no_longer_than_it_has_letters(text: str) -> None:
    assert _seconds(text * 100_000) < 20 * _seconds("a b=c " * 100_000)


def _seconds(text: str) -> float:
    started = time.process_time()
    assert masked(text) == text
    return time.process_time() - started
