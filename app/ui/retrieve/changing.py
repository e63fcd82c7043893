"""Settings changed for this run only: mode, threshold, exact, depth of the first configuration,
and the filter of the run.
"""

from __future__ import annotations

import json
from collections import Counter
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
#: What is changed of the configuration, as the URL names it.
KEYS = ("mode", "threshold", "exact", "depth")


def pick(loaded: Loaded, name: str) -> Changes:
    """What is changed, from the URL; what is not understood is told, and nothing is changed."""
    configuration = loaded.collection.settings.configurations[name]
    filters = _filter(loaded)
    count = (filters is not None) + sum(
        bool(
            st.session_state.get(
                f"pick-{key}", st.session_state.get(f"kept-{key}", st.query_params.get(key))
            )
        )
        for key in KEYS
    )
    label = "Change for this run" + (f" ({count})" if count else "")
    with st.popover(label, width="content"):
        text.caption(f"For this run only; empty is as configured in {name}.")
        mode, threshold, exact, depth = _configured(configuration)
        _filter_fields(loaded)
        st.button("As configured", key="as-configured", on_click=_reset)
    state.note_in_url("filter", "" if filters is None else canonical(filters))
    try:
        return _read(mode, threshold, exact, depth, filters)
    except InvalidInput as error:
        refused(error)
        return Changes(filters=filters)


def refused(error: InvalidInput) -> None:
    """What cannot be tried; what is on screen stays, for it is searched as configured."""
    told = [f"{sentence} It was searched as configured." for sentence in state.sentences(error)]
    st.session_state.setdefault("changes-refused", []).extend(told)


def told() -> None:
    """Tell what was refused, below the pickers."""
    for sentence in st.session_state.pop("changes-refused", []):
        text.problem(sentence)


def _read(
    mode: str,
    threshold: str,
    exact: str,
    depth: str,
    filters: Mapping[str, Sequence[Value]] | None,
) -> Changes:
    """What is picked and written as changes; raises InvalidInput."""
    return Changes(
        mode=mode or None,  # type: ignore[arg-type]
        threshold=_number("threshold", threshold, float) if threshold != _WITHOUT else None,
        unlimited=threshold == _WITHOUT,
        exact=None if not exact else exact == "yes",
        depth=_number("depth", depth, int),
        filters=filters,
    )


def _configured(configuration: Configuration) -> tuple[str, str, str, str]:
    """Mode, threshold, exactness and depth as they are picked and written; empty as configured."""
    searches = configuration.mode != "external"  # another program is asked as it is
    words: dict[str, str] = {"": f"as configured: {configuration.mode}"}
    words |= {mode: mode for mode in MODES}
    mode = state.pick("Mode", ["", *MODES], "mode", "", words) if searches else ""
    usual = "none" if configuration.threshold is None else f"{configuration.threshold:g}"
    threshold = state.write(
        "Score threshold", "threshold", placeholder=f"as configured: {usual}",
        help=f"A score below it is cut. {_WITHOUT} takes it away.",
    )  # fmt: skip
    usual = "yes" if configuration.exact else "no"
    answers = {"": f"as configured: {usual}", "yes": "yes", "no": "no"}
    exact = state.pick("Exact search", list(answers), "exact", "", answers) if searches else ""
    depth = state.write("Depth", "depth", placeholder=f"as configured: {configuration.depth}")
    return mode, threshold, exact, depth


def _number(name: str, written: str, kind: type[Any]) -> Any:
    if not written:
        return None
    try:
        return kind(written)
    except ValueError:
        what = "a whole number" if kind is int else f"a number, nor {_WITHOUT}"
        raise InvalidInput(
            f"{name} is {shown(written)}, which is not {what}",
            place=PLACE,
            remedy="Correct it under Change for this run",
        ) from None


def _options(loaded: Loaded, name: str) -> dict[str, Value]:
    """The values a field can have, by how they are written."""
    own = loaded.collection.settings.filters
    return {canonical(one): one for one in values_of(loaded.corpus, tuple(own))[name]}


def _widget(loaded: Loaded, name: str) -> str:
    return f"pick-filter-{loaded.collection.name}-{name}"


def _filter(loaded: Loaded) -> Mapping[str, Sequence[Value]] | None:
    """The allowed values of each field; None for the collection's own."""
    own = loaded.collection.settings.filters
    asked: Mapping[str, Sequence[Value]] | None = None
    found: dict[str, list[Value]] = {}
    same = True
    for name in own:
        options, widget = _options(loaded, name), _widget(loaded, name)
        usual = [one for one in map(canonical, own[name]) if one in options]
        if widget not in st.session_state:
            asked = asked or _asked(loaded)
            st.session_state[widget] = _there(name, asked[name], options, own[name])
        chosen = [one for one in st.session_state[widget] if one in options]
        # Always assigned: a browser makes the field when the popover is opened first, maybe runs
        # later, and would make it an empty one.
        st.session_state[widget] = chosen
        found[name] = [options[one] for one in chosen]
        same = same and set(chosen) == set(usual)
    st.session_state["filter-of"] = loaded.collection.name
    return None if same else found


def _there(
    name: str, asked: Sequence[Value], options: Mapping[str, Value], own: Sequence[Value]
) -> list[str]:
    """The values asked for that chunks have; what no chunk has does not become any value."""
    wanted, usual = list(map(canonical, asked)), list(map(canonical, own))
    for one in wanted:
        if one not in options and one not in usual:
            _tell(f"The link names {one} as {name}, which no chunk has.")
    there = [one for one in wanted if one in options]
    return there if there or not wanted else [one for one in usual if one in options]


def _filter_fields(loaded: Loaded) -> None:
    for name in loaded.collection.settings.filters:
        options = list(_options(loaded, name))
        st.multiselect(
            f"Filter: {name}", options, key=_widget(loaded, name), placeholder="any value",
            format_func=_words(options).__getitem__,
        )  # fmt: skip


def _words(options: Sequence[str]) -> dict[str, str]:
    """How values are shown: texts without quotes, unless another value would read the same."""
    plain = {one: one.strip('"') for one in options}
    often = Counter(plain.values())
    return {one: words if often[words] == 1 else one for one, words in plain.items()}


def _asked(loaded: Loaded) -> Mapping[str, Sequence[Value]]:
    """The filter of the link, that of before another page was read, or the collection's own."""
    own = loaded.collection.settings.filters
    before = st.session_state.get("kept-filter")
    written = st.query_params.get("filter", before or None)
    of = st.session_state.get("filter-of", loaded.collection.name)
    if written is None or (written == before and of != loaded.collection.name):
        return own
    try:
        asked = json.loads(written)
        if not isinstance(asked, dict) or not all(isinstance(v, list) for v in asked.values()):
            raise ValueError("not lists by field")
        canonical(asked)
        if not asked.keys() <= own.keys():
            raise ValueError("fields the filter does not have")
    except (ValueError, RecursionError):
        _tell(
            f"The link names {shown(written)} as filter, which is none: the collection's own holds."
        )
        return own
    return {name: asked.get(name, values) for name, values in own.items()}


def _tell(sentence: str) -> None:
    st.session_state.setdefault("link-notices", []).append(sentence)


def _reset() -> None:
    for key in KEYS:
        state.put(key, "")
    for key in [key for key in st.session_state if str(key).startswith("pick-filter-")]:
        del st.session_state[key]
    st.session_state.pop("kept-filter", None)
    st.query_params.pop("filter", None)
