"""Becoming the dashboard's server, with its settings as flags."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from app.core.errors import InvalidInput, Problem
from app.team import PLACE, STARTED_WITH, SignIn
from app.workspace import Workspace

DEFAULT_PORT = 8501
_HERE = Path(__file__).resolve().parent
_LOCAL = ("localhost", "127.0.0.1", "::1")
_SECRETS = ".streamlit/secrets.toml"
_AUTH_KEYS = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
#: Whoever guesses the cookie's secret can sign in as anybody.
_SHORTEST_SECRET = 32


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


def require_sign_in(root: Path, sign_in: SignIn | None) -> None:
    """Raise InvalidInput with all that a sign-in by OpenID Connect lacks in a workspace."""
    if sign_in is None or sign_in.kind != "oidc":
        return
    if find_spec("authlib") is None:
        raise InvalidInput(
            "a sign-in of kind 'oidc' needs the package authlib, which is not installed",
            place=PLACE,
            remedy="Install it with this program: pip install '.[auth]'",
        )
    try:
        value = tomllib.loads((root / _SECRETS).read_bytes().decode("utf-8-sig"))
    except FileNotFoundError as error:
        raise InvalidInput(
            "a sign-in of kind 'oidc' needs this file, which is not there",
            place=_SECRETS,
            remedy=f"Write [auth] with {', '.join(_AUTH_KEYS)} into it",
        ) from error
    except OSError as error:
        raise InvalidInput(f"the file cannot be read: {error.strerror}", place=_SECRETS) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        # What the parser says may quote a secret.
        raise InvalidInput("not TOML in UTF-8", place=_SECRETS, remedy="Correct it") from error
    if problems := list(_auth_problems(value.get("auth"))):
        raise InvalidInput.of(problems)


def _auth_problems(auth: object) -> Iterator[Problem]:
    """What is wrong with `[auth]`; no value of it is ever told."""
    settings = auth if isinstance(auth, dict) else {}
    for key in _AUTH_KEYS:
        value = settings.get(key)
        if not isinstance(value, str) or not value:
            yield Problem(f"auth.{key} is missing", _SECRETS, f"Add {key} = ... under [auth]")
        elif key == "redirect_uri" and not re.fullmatch(r"https?://\S+/oauth2callback", value):
            remedy = "Write https://<address of the dashboard>/oauth2callback"
            yield Problem(f"auth.{key} is no address of this dashboard", _SECRETS, remedy)
        elif key == "cookie_secret" and len(value) < _SHORTEST_SECRET:
            message = f"auth.{key} has fewer than {_SHORTEST_SECRET} characters"
            remedy = "Make one: python3 -c 'import secrets; print(secrets.token_hex())'"
            yield Problem(message, _SECRETS, remedy)


def exposure(address: str, sign_in: SignIn | None) -> str | None:
    """What whoever reaches an address can do, where that is more than one may think."""
    if address in _LOCAL:
        return None
    if sign_in is None:
        return "there is no sign-in: whoever reaches this address can grade."
    if sign_in.kind == "proxy":
        return (
            f"whoever reaches this address past the proxy can sign in as anybody, by the header "
            f"{sign_in.header}: let a firewall admit the proxy alone, or listen on 127.0.0.1."
        )
    return None


def command(address: str, port: int, sign_in: SignIn | None = None) -> list[str]:
    """The command line of the server; `-P` keeps the working directory's `app` out of it."""
    value = tomllib.loads(settings_file().read_text(encoding="utf-8"))
    value["server"] |= {"address": address, "port": port}
    main = str(_HERE / "main.py")
    words = [sys.executable, "-P", "-m", "streamlit", "run", main, *_flags(value)]
    if sign_in is not None:
        # Also for OpenID Connect: a header that some other file trusts would go before its cookie.
        trusted = {sign_in.header: "email"} if sign_in.header else {}
        words.append(f"--server.trustedUserHeaders={json.dumps(trusted)}")
    return words


def serve(workspace: Workspace, address: str, port: int, sign_in: SignIn | None = None) -> NoReturn:
    """Replace this process by the server, so that a signal reaches it; does not return."""
    os.chdir(workspace.root)
    os.environ[STARTED_WITH] = str(sign_in or "")
    sys.stdout.flush()
    words = command(address, port, sign_in)
    os.execv(words[0], words)
