"""Who is at the screen: somebody signed in, or a typed name where there is no sign-in."""

from __future__ import annotations

import os
import unicodedata

import streamlit as st

from app.core.errors import InvalidInput, NotReady
from app.core.judgments import reviewer_id
from app.core.text import shown
from app.flows.roles import require_grader
from app.team import PLACE, STARTED_WITH, SignIn, read_team
from app.ui import state
from app.ui.text import caption, fact, notice, problem, title


def admit() -> None:
    """Let nobody past who is not signed in, where a sign-in is set up; before every page.

    Raises NotReady where the server was started with another sign-in, InvalidInput where the
    settings are refused.
    """
    sign_in = _sign_in()
    if sign_in is None:
        return
    try:
        if _signed_in(sign_in) is not None:
            return
        title("Sign in")
        if sign_in.kind == "oidc":
            notice("Nobody is signed in. Sign in to read and to grade.")
            st.button("Sign in", type="primary", on_click=_start_sign_in)
        else:
            notice(
                f"Nobody is signed in: no proxy sent the header {sign_in.header}. Open the "
                "dashboard at the address of its proxy, not at this port."
            )
    except InvalidInput as error:
        title("Sign in")
        for sentence in state.sentences(error):
            problem(sentence)
        _sign_out(sign_in)
    state.show_failures()
    st.stop()


def pick_reviewer() -> str | None:
    """The reviewer: who is signed in, else the typed name (also `?reviewer=`); None without."""
    sign_in = _sign_in()
    if sign_in is None:
        return state.pick_reviewer()
    name = _signed_in(sign_in)
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            caption("Signed in as")
            _sign_out(sign_in)
        fact(name or "")
    return name


def at_screen() -> str | None:
    """Who is signed in, else whose name was typed in this session or stands in the link.

    None for nobody, and for a name that is refused: the field for it says why. Draws nothing.
    """
    sign_in = _sign_in()
    if sign_in is not None:
        return _signed_in(sign_in)
    typed = st.session_state.get("reviewer") or state.typed_name()
    try:
        return state.reviewer_of(typed or st.query_params.get("reviewer"))
    except InvalidInput:
        return None


def signed_in() -> str | None:
    """Who is signed in; None where there is no sign-in.

    For callbacks that write to no ledger: raises NotReady where the sign-in has ended.
    """
    sign_in = _sign_in()
    if sign_in is None:
        return None
    name = _signed_in(sign_in)
    if name is None:
        raise NotReady("the sign-in has ended", remedy="Nothing was done: sign in again")
    return name


def confirm(reviewer: str) -> None:
    """For callbacks: raise NotReady where the reviewer of the last run is not at the screen now."""
    sign_in = _sign_in()
    if sign_in is None:
        # A name that was typed comes with the press that followed it.
        typed = st.session_state.get("reviewer")
        if typed is not None and state.reviewer_of(typed) != reviewer:
            raise NotReady(
                f"the name was changed while {shown(reviewer)} was on screen",
                remedy="Nothing was saved: press again",
            )
    elif _signed_in(sign_in) != reviewer:
        raise NotReady(
            f"the sign-in of {reviewer} has ended", remedy="Nothing was saved: sign in again"
        )


def why_not_grade(reviewer: str) -> str | None:
    """Why a reviewer may read but not grade, as a sentence; None where they may grade."""
    try:
        require_grader(state.workspace(), reviewer)
    except InvalidInput as error:
        return " ".join(state.sentences(error))
    return None


def notices() -> tuple[str, ...]:
    """What is to be known of the roles."""
    return read_team(state.workspace().data).notices


def _sign_in() -> SignIn | None:
    """The sign-in, which must be that of the server: roles may change meanwhile, it may not."""
    sign_in = read_team(state.workspace().data).sign_in
    if str(sign_in or "") != os.environ.get(STARTED_WITH, ""):
        raise NotReady(
            "the sign-in set there is not the one this server was started with",
            place=PLACE,
            remedy="Start desk again",
        )
    return sign_in


def _signed_in(sign_in: SignIn) -> str | None:
    """The identity of who is signed in; None for nobody. Raises InvalidInput where it has none."""
    email = st.user.get("email")
    if sign_in.kind == "oidc":
        if not st.user.get("is_logged_in"):
            return None
        if not email or st.user.get("email_verified") in (False, "false"):
            raise InvalidInput(
                "the provider names no verified e-mail address for who is signed in",
                remedy="Let it send the claim email, or sign in with another account",
            )
    if not isinstance(email, str) or not email.strip():
        return None
    said = _as_sent(email) if sign_in.kind == "proxy" else email
    try:
        name = reviewer_id(said)
        # Folding makes one of letters that only look alike to it (a ligature, the Kelvin sign).
        if name != unicodedata.normalize("NFC", " ".join(said.split())).lower():
            raise InvalidInput(f"{shown(said)} holds letters that can be taken for others")
        return name
    except InvalidInput as error:
        raise InvalidInput(
            f"who is signed in cannot be a reviewer: {error.problems[0].message}",
            remedy="Sign in under another name",
        ) from error


def _as_sent(value: str) -> str:
    """A header's value: proxies send UTF-8, and the server reads Latin-1."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _sign_out(sign_in: SignIn) -> None:
    """A button where this program signs in; out of a proxy's sign-in leads only the proxy."""
    if sign_in.kind == "oidc":
        st.button("Sign out", key="sign-out", type="tertiary", on_click=st.logout)


def _start_sign_in() -> None:
    with state.acting():
        st.login()
