"""Becoming the dashboard's server, with its settings as flags."""

from __future__ import annotations

import os
import socket
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

from app.core.errors import InvalidInput
from app.workspace import Workspace

DEFAULT_PORT = 8501
_HERE = Path(__file__).resolve().parent


def settings_file() -> Path:
    """The dashboard's settings: inside an installed package, or beside it in a clone."""
    inside = _HERE / ".streamlit" / "config.toml"
    return inside if inside.is_file() else _HERE.parent / ".streamlit" / "config.toml"


def _flags(value: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, item in value.items():
        if isinstance(item, dict):
            yield from _flags(item, f"{prefix}{name}.")
        elif not isinstance(item, list):
            text = str(item).lower() if isinstance(item, bool) else str(item)
            yield f"--{prefix}{name}={text}"


def choose_port(address: str, port: int | None) -> int:
    """The port asked for, or the first free one from 8501 on.

    Raises InvalidInput where the one asked for is taken or the address is not this machine's.
    """
    wanted = [port] if port is not None else range(DEFAULT_PORT, DEFAULT_PORT + 50)
    for candidate in wanted:
        if _is_free(address, candidate):
            return candidate
    what = f"port {port} is" if port is not None else f"ports {wanted[0]} to {wanted[-1]} are"
    raise InvalidInput(f"{what} taken at {address}", remedy="Name a free one with --port")


def _is_free(address: str, port: int) -> bool:
    try:
        family, kind, _, _, where = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with closing(socket.socket(family, kind)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except socket.gaierror as error:
        raise InvalidInput(
            f"the address {address} is unknown ({error.strerror})",
            remedy="Use localhost, or an address of this machine",
        ) from error
    except PermissionError as error:
        raise InvalidInput(
            f"port {port} is reserved for the system", remedy="Name one from 1024 on with --port"
        ) from error
    except OSError as error:
        if error.errno == 99:  # EADDRNOTAVAIL
            raise InvalidInput(
                f"the address {address} is not one of this machine",
                remedy="Use localhost, or an address of this machine",
            ) from error
        return False
    return True


def command(address: str, port: int) -> list[str]:
    """The command line of the server; `-P` keeps the working directory's `app` out of it."""
    value = tomllib.loads(settings_file().read_text(encoding="utf-8"))
    value["server"] |= {"address": address, "port": port}
    main = str(_HERE / "main.py")
    return [sys.executable, "-P", "-m", "streamlit", "run", main, *_flags(value)]


def serve(workspace: Workspace, address: str, port: int) -> NoReturn:
    """Replace this process by the server, so that a signal reaches it; does not return."""
    os.chdir(workspace.root)
    sys.stdout.flush()
    words = command(address, port)
    os.execv(words[0], words)
