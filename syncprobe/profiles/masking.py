"""Passwords and tokens are no part of a profile: what looks like one is written as stars."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

MASK: Final = "***"
_SECRETS: Final = frozenset(
    {
        *("apikey", "auth", "authorization", "credential", "credentials", "passphrase", "passwd"),
        *("password", "pwd", "secret", "token"),
    }
)
_KEYS: Final = frozenset({"access", "api", "private", "secret", "signing"})
_FLAG: Final = re.compile(r"--?([A-Za-z][\w.-]*)")
_NAMED: Final = re.compile(
    r"(?<![\w.-])(?P<name>[\w.-]++)[\"']?\s*+[=:]\s*+((Bearer|Basic)\s++)?[\"']?"
)
"""What stands before the x of ``token=x``, ``token: "x"`` and ``'token': 'x'``, as commands, messages and printed dictionaries have it.

Names are taken whole and from their beginning, so that a long text takes no longer than it has letters.
"""
_VALUE: Final = re.compile(r"(?<=\")[^\"]+|(?<=')[^']+|[^\s\"']\S*")
_NUMBER: Final = re.compile(r"[-+]?[\d.]{1,8}(e[-+]?\d+)?", re.IGNORECASE)
_KNOWN: Final = re.compile(
    r"\b(sk-|hf_|gh[opsu]_|github_pat_|glpat-|xox[abp]-|AKIA|eyJ)[\w.-]{8,}|(?<=://)[^\s/@:]+:[^\s/@]+(?=@)"
)
"""Keys that can be told by how they begin, and the names and passwords of addresses."""


def masked_words(words: Iterable[str]) -> list[str]:
    """A command line without its secrets: ``--token x``, ``--api-key=x``, ``PASSWORD=x``."""
    shown: list[str] = []
    is_value = False
    for word in words:
        flag = _FLAG.fullmatch(word)
        if is_value and flag is None:
            shown.append(word if _NUMBER.fullmatch(word) else MASK)
        else:
            shown.append(masked(word))
        is_value = flag is not None and _is_secret(flag[1])
    return shown


def masked(text: str) -> str:
    """A text without what it gives away: keys, addresses with passwords, values behind telling names."""
    shown, place = [], 0
    while (found := _NAMED.search(text, place)) is not None:
        # What is behind a colon may be a telling name, too: ``cannot log in: token=x``.
        shown.append(text[place : found.end()])
        place = found.end()
        value = _VALUE.match(text, place) if _is_secret(found["name"]) else None
        if value is not None and not _NUMBER.fullmatch(value[0].rstrip(".,;")):
            shown.append(MASK)
            place = value.end()
    return _KNOWN.sub(MASK, "".join(shown) + text[place:])


def _is_secret(name: str) -> bool:
    """Words of a name tell: ``api_token`` does, ``tokenizer`` and ``max_tokens`` do not."""
    words = set(re.split(r"[-_.]", name.lower()))
    return not words.isdisjoint(_SECRETS) or ("key" in words and not words.isdisjoint(_KEYS))
