"""Ids that are unique without asking anybody."""

from __future__ import annotations

import secrets
import time
import uuid

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


def event_id() -> str:
    """A UUID of version 7 (RFC 9562): 48 bits of Unix milliseconds, then random bits."""
    value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))


def execution_id() -> str:
    """Ten characters (about 50 random bits) that are easy to read aloud and to type."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))
