"""Settings changed for this run only: mode, threshold, exact, depth of the first configuration,
and the filter of the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.core.errors import InvalidInput
from app.core.text import canonical, shown
from app.flows.loading import Loaded
from app.flows.trying import MODES, PLACE, Changes, Value, values_of
from app.settings import Configuration
from app.ui import state, text

#: Written for a threshold that is to be taken away.
_WITHOUT = "none"


def pick(loaded: Loaded, name: str) -> Changes:
    """What is changed, from the URL; raises InvalidInput for what is not understood."""
    configuration = loaded.collection.settings.configurations[name]
    count = sum(bool(st.session_state.get(f"kept-{key}", st.query_params.get(key)))
                for key in ("mode", "threshold", "exact", "depth", "filter"))  # fmt: skip
    label = "Change for this run" + (f" ({count})" if count else "")
    with st.popover(label, width="content"):
        text.caption(f"For this run only; empty is as configured in {name}.")
        changes = _configured(configuration, name)
        filters = _filter(loaded)
        st.button("As configured", key="as-configured", on_click=_reset)
    return Changes(**changes, filters=filters)


def _configured(configuration: Configuration, name: str) -> dict[str, Any]:
    modes = [""] if configuration.mode == "external" else ["", *MODES]
    words: dict[str, str] = {"": f"as configured: {configuration.mode}"}
    words |= {mode: mode for mode in MODES}
    mode = state.pick("Mode", modes, "mode", "", words)
    usual = "none" if configuration.threshold is None else f"{configuration.threshold:g}"
    threshold = state.write(
        "Score threshold", "threshold", placeholder=f"as configured: {usual}",
        help=f"A score below it is cut. {_WITHOUT} takes it away.",
    )  # fmt: skip
    exact = state.pick(
        "Exact search", ["", "yes", "no"], "exact", "",
        {"": f"as configured: {'yes' if configuration.exact else 'no'}", "yes": "yes", "no": "no"},
    )  # fmt: skip
    depth = state.write("Depth", "depth", placeholder=f"as configured: {configuration.depth}")
    return {
        "mode": mode or None,
        "threshold": _number("threshold", threshold, float) if threshold != _WITHOUT else None,
        "unlimited": threshold == _WITHOUT,
        "exact": None if not exact else exact == "yes",
        "depth": _number("depth", depth, int),
    }


def _number(name: str, written: str, kind: type[Any]) -> Any:
    if not written:
        return None
    try:
        return kind(written)
    except ValueError:
        what = "a whole number" if kind is int else f"a number, nor {_WITHOUT}"
        raise InvalidInput(
            f"{name} is {shown(written)}, which is not {what}", place=PLACE, remedy="Correct it"
        ) from None


def _filter(loaded: Loaded) -> Mapping[str, Sequence[Value]] | None:
    """The allowed values of each field; None for the collection's own."""
    own = loaded.collection.settings.filters
    if not own:
        return None
    there = values_of(loaded.corpus, tuple(own))
    asked = _asked(own)
    found: dict[str, list[Value]] = {}
    for name in own:
        options = {canonical(value): value for value in there[name]}
        widget = f"pick-filter-{name}"
        if widget not in st.session_state:
            wanted = (canonical(value) for value in asked.get(name, ()))
            st.session_state[widget] = [one for one in wanted if one in options]
        chosen = st.multiselect(
            f"Filter: {name}", list(options), key=widget,
            format_func=lambda one: one.strip('"'), placeholder="any value",
        )  # fmt: skip
        found[name] = [options[one] for one in chosen]
    written = canonical(found)
    same = all(
        {canonical(value) for value in found[name]}
        == {canonical(value) for value in own[name]} & {canonical(v) for v in there[name]}
        for name in own
    )
    state.note_in_url("filter", "" if same else written)
    return None if same else found


def _asked(own: Mapping[str, Sequence[Value]]) -> Mapping[str, Sequence[Value]]:
    """The filter of the link, or the collection's own."""
    written = st.query_params.get("filter")
    if written is None:
        return own
    try:
        asked = json.loads(written)
        if not isinstance(asked, dict) or not all(isinstance(v, list) for v in asked.values()):
            raise ValueError("not lists by field")
    except ValueError:
        st.session_state.setdefault("link-notices", []).append(
            f"The link names {shown(written)} as filter, which is none: the collection's own holds."
        )
        return own
    return {name: asked.get(name, []) for name in own}


def _reset() -> None:
    for key in ("mode", "threshold", "exact", "depth"):
        state.put(key, "")
    for key in [key for key in st.session_state if str(key).startswith("pick-filter-")]:
        del st.session_state[key]
    st.query_params.pop("filter", None)
