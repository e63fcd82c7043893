"""The one home of session state, URL and caches."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException

from app.core.errors import DeskError
from app.core.judgments import reviewer_id
from app.core.text import shown
from app.flows.bench import Bench
from app.flows.loading import Loaded
from app.flows.sharing.unpublished import Unpublished
from app.log import record, record_cause
from app.settings import split_metric
from app.ui.kept import Kept
from app.ui.text import escape, notice, problem
from app.workspace import Collection, Workspace


def sentences(error: Exception) -> list[str]:
    """What a user is told of an error, which is logged where the sentence alone may not do."""
    if not isinstance(error, DeskError):
        where = record(error, Path.cwd())
        return [f"Something unexpected happened ({type(error).__name__}). See {where}."]
    record_cause(error, Path.cwd())
    told = []
    for found in error.problems[:20]:
        words = str(found)
        named = found.place or re.match(r"\S*[:/.@]\S", words)  # a name keeps its letters
        told.append(words if named else words[:1].upper() + words[1:])
    if len(error.problems) > 20:
        told.append(f"And {len(error.problems) - 20} more.")
    return told


@contextmanager
def guarded() -> Iterator[None]:
    """What goes wrong on a page is told in sentences; what was drawn before stays."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the last resort: logged, and told in a sentence
        for sentence in sentences(error):
            problem(sentence)
        st.stop()


@contextmanager
def acting() -> Iterator[None]:
    """What goes wrong in a callback is told by the run that follows it."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the last resort: logged, and told in a sentence
        st.session_state["failures"] = sentences(error)


def show_failures() -> list[str]:
    """Tell what the last callback failed with, once; returns the sentences."""
    told: list[str] = st.session_state.pop("failures", [])
    for sentence in told:
        problem(sentence)
    return told


@st.cache_resource(show_spinner=False)
def _kept(root: str) -> Kept:
    return Kept()


def kept() -> Kept:
    """What this process keeps for its workspace."""
    return _kept(str(Path.cwd()))


def workspace() -> Workspace:
    """The workspace of the server: its working directory."""
    return Workspace.at(Path.cwd())


def several() -> bool:
    """Whether there is more than one collection to pick from."""
    return len(workspace().names()) > 1


def pick_collection(within: DeltaGenerator | None = None) -> Loaded:
    """The collection on screen, from the URL; a picker where there are several.

    `within` is where the picker is drawn, a place of its own unless given.
    """
    here = workspace()
    names = here.names()
    if not names:
        problem("There is no collection in data. Make one: desk init DIR.")
        st.stop()
    name = names[0]
    if len(names) > 1:
        with within or st.columns([1, 3])[0]:
            titles = {name: here.title(name) for name in names}
            name = pick("Collection", names, "collection", words=titles)
    return load_collection(name)


def load_collection(name: str) -> Loaded:
    """A collection as its files are now; raises DeskError."""
    return kept().loaded(workspace(), name)


def bench(name: str, *, renewed: bool = False) -> Bench:
    """Where the reviewers of a collection work; `renewed` also looks what has been run since."""
    return kept().bench(workspace(), name, renewed=renewed)


def unpublished(collection: Collection) -> Unpublished | None:
    """What of a collection's labels is not committed; None for nothing, and without git."""
    return kept().watch.look(collection)


def pick_reviewer() -> str | None:
    """The reviewer's identity from the typed name (also `?reviewer=`), or None without one."""
    name = st.text_input("Your name", key="reviewer", bind="query-params", max_chars=60)
    st.session_state["kept-reviewer"] = name
    return reviewer_of(name)


def reviewer_of(name: str | None) -> str | None:
    """The identity of a typed name; None for a blank one. Raises InvalidInput for a refused one."""
    return reviewer_id(name) if name and name.strip() else None


def typed_name() -> str | None:
    """The name typed on page Label in this session, for links that lead back there."""
    name: str = st.session_state.get("kept-reviewer") or ""
    return "".join(name.splitlines()) or None  # as the field shows what a link says


def pick(
    label: str,
    options: list[str],
    key: str,
    default: str | None = None,
    words: Mapping[str, str] | None = None,
    control: Callable[[str, list[str], str, Callable[[str], str]], str] | None = None,
) -> str:
    """One of some options; what is picked stands in the URL under `key`, by its id.

    (Streamlit's own binding would put the words there.) A value in the URL that is not among the
    options is told and passed over. `words` is how options are shown.
    """
    asked, widget = st.query_params.get(key), f"pick-{key}"
    first = default if default in options else options[0]
    current = st.session_state.get(widget, st.session_state.get(f"kept-{key}"))
    if asked is not None and asked != st.session_state.get(f"url-{key}"):
        current = asked
        if asked not in options:
            words_of_link = f"The link names {shown(asked)} as {label.lower()}, which is not there."
            st.session_state.setdefault("link-notices", []).append(words_of_link)
    # Always assigned: a widget that another page drew under this key would lose its value.
    st.session_state[widget] = current if current in options else first
    shown_as = _told_apart(options, words or {})
    chosen = (control or _box)(label, options, widget, lambda one: shown_as.get(one, one))
    note_in_url(key, chosen)
    return chosen


def _told_apart(options: list[str], words: Mapping[str, str]) -> dict[str, str]:
    """How options are shown: a picker takes those of the same words for one, so that they get
    their ids beside them.
    """
    said = {one: words.get(one, one) for one in options}
    often = Counter(said.values())
    return {one: f"{said[one]} ({one})" if often[said[one]] > 1 else said[one] for one in said}


def forget_pick(key: str) -> None:
    """What was picked under `key` is picked no more, unless a new link asks for it."""
    if st.query_params.get(key) == st.session_state.get(f"url-{key}"):
        for name in (f"pick-{key}", f"kept-{key}"):
            st.session_state.pop(name, None)


def pick_view(views: Mapping[str, str]) -> str:
    """One of a page's views, from the URL (`?view=`); the first unless picked."""
    return pick("View", list(views), "view", words=views, control=_segments)


def _segments(label: str, options: list[str], key: str, words: Callable[[str], str]) -> str:
    chosen = st.segmented_control(
        label,
        options,
        key=key,
        format_func=words,
        required=True,
        wrap=True,
        label_visibility="collapsed",
    )
    return str(chosen)


def _box(label: str, options: list[str], key: str, words: Callable[[str], str]) -> str:
    chosen: str = st.selectbox(label, options, key=key, format_func=words)
    return chosen


def write(label: str, key: str, **options: Any) -> str:
    """A line of text to write; what is written stands in the URL under `key` while there is any."""
    asked, widget = st.query_params.get(key), f"pick-{key}"
    current = st.session_state.get(widget, st.session_state.get(f"kept-{key}", ""))
    if asked is not None and asked != st.session_state.get(f"url-{key}"):
        current = asked
    # Always assigned, as in `pick`; a field takes one line.
    st.session_state[widget] = " ".join(current.splitlines())
    written = str(st.text_input(label, key=widget, **options)).strip()
    note_in_url(key, written)
    return written


def note_in_url(key: str, value: str) -> None:
    """What is picked or written, to be put into the URL by `settle`."""
    st.session_state[f"kept-{key}"] = st.session_state[f"url-{key}"] = value
    st.session_state.setdefault("url-pending", {})[key] = value


def put(key: str, value: str) -> None:
    """For callbacks, which run before the pickers are drawn: pick or write something."""
    st.session_state[f"pick-{key}"] = st.session_state[f"kept-{key}"] = value


def settle() -> None:
    """After a page's pickers: put what is picked into the URL, and tell what is not there.

    One write for all pickers, so that the browser's back button takes one step for them. What is
    picked as nothing is not in the URL.
    """
    wanted: dict[str, str] = st.session_state.pop("url-pending", {})
    here = {key: value for key, value in wanted.items() if value}
    gone = [key for key in wanted.keys() - here.keys() if key in st.query_params]
    if gone:
        _rewrite(gone, here)
    elif any(st.query_params.get(key) != value for key, value in here.items()):
        st.query_params.update(here)
    for sentence in st.session_state.pop("link-notices", []):
        notice(sentence)


def _rewrite(gone: list[str], here: Mapping[str, str]) -> None:
    """Put some keys into the URL and take others out."""
    kept = {k: v for k, v in st.query_params.to_dict().items() if k not in gone}
    try:
        st.query_params.from_dict({**kept, **here})
    except StreamlitAPIException:
        # A widget's own key is among them, such as a panel that is open: it may not be written.
        for key in gone:
            del st.query_params[key]
        if any(st.query_params.get(key) != value for key, value in here.items()):
            st.query_params.update(here)


#: What the address of page Retrieve says beside collection and question; a link that leads away
#: from there takes it along as `back`.
BACK = ("configuration", "beside", "k", "execution", "category", "mode", "threshold", "exact",
        "depth", "filter", "ranks")  # fmt: skip


def back_to_retrieve(collection: str, question: str) -> str:
    """The address a link came from on page Retrieve, for HTML; its question alone where unknown."""
    told = dict(parse_qsl(st.query_params.get("back", "")))
    asked = {name: told[name] for name in BACK if name in told}
    return escape(
        f"/retrieve?{urlencode({'collection': collection, 'question': question, **asked})}"
    )


def pick_number(label: str, options: list[int], key: str, primary: str) -> int:
    """One of the cut-offs, from the URL; that of the primary metric unless picked."""
    return int(pick(label, [str(k) for k in options], key, str(split_metric(primary)[1])))


def show_question(name: str) -> None:
    """Move to a question; for callbacks."""
    put("question", name)
