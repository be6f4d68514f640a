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
_NAME: Final = r"[A-Za-z][\w.-]*"
_FLAG: Final = re.compile(rf"--?({_NAME})")
_ASSIGNMENT: Final = re.compile(
    rf"(?P<name>{_NAME})[\"']?\s*[=:]\s*((Bearer|Basic)\s+)?[\"']?"
    r"(?P<value>(?<=\")[^\"]+|(?<=')[^']+|[^\s\"']\S*)"
)
"""``token=x``, ``token: "x"`` and ``'token': 'x'``, as commands, messages and printed dictionaries have it."""
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
    shown, place = "", 0
    while (found := _ASSIGNMENT.search(text, place)) is not None:
        is_kept = not _is_secret(found["name"]) or _NUMBER.fullmatch(found["value"].rstrip(".,;"))
        value = found.start("value")
        # What is behind a colon may be a telling name, too: ``cannot log in: token=x``.
        shown += text[place:value] + ("" if is_kept else MASK)
        place = value if is_kept else found.end()
    return _KNOWN.sub(MASK, shown + text[place:])


def _is_secret(name: str) -> bool:
    """Words of a name tell: ``api_token`` does, ``tokenizer`` and ``max_tokens`` do not."""
    words = set(re.split(r"[-_.]", name.lower()))
    return not words.isdisjoint(_SECRETS) or ("key" in words and not words.isdisjoint(_KEYS))
