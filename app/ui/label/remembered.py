"""What every rerun of Agreement and Disputes asks for, kept until a file behind it changes.

Kept as it is, not copied as `st.cache_data` would: it holds every judgment. Nobody changes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from app.core.errors import DeskError
from app.core.grades import State
from app.core.text import digest
from app.flows import adjudicating, agreeing
from app.flows.adjudicating import Dispute
from app.flows.agreeing import Agreement, Firsts
from app.flows.dispute_effects import Effect, by_effect, effects
from app.flows.loading import Loaded
from app.ui import state
from app.workspace import Signature, signature_of


@dataclass(frozen=True)
class Waiting:
    """Disputes in order, what hangs on each, and why that is not known where it is not."""

    disputes: tuple[Dispute, ...]
    effects: Mapping[tuple[str, str], Effect]
    unknown: tuple[str, ...]


def first_judgments(loaded: Loaded, since: str | None) -> Firsts:
    """As `app.flows.agreeing` gives it."""
    return _firsts(*_versioned(loaded), since)


def agreement(loaded: Loaded, category: str | None, since: str | None) -> Agreement:
    """As `app.flows.agreeing` gives it."""
    return _agreement(*_versioned(loaded), category, since)


def waiting(loaded: Loaded, states: tuple[State, ...]) -> Waiting:
    """Disputes by width and effect; a store that cannot be read now leaves effects unknown."""
    store = signature_of([loaded.collection.workspace.store_path])
    versioned = _versioned(loaded, store)
    found = _disputes(*versioned, states)
    try:
        known = _effects(*versioned, states)
    except DeskError as error:
        return Waiting(tuple(found), {}, tuple(state.sentences(error)))
    return Waiting(tuple(by_effect(found, known)), known, ())


def _versioned(loaded: Loaded, more: Signature = ()) -> tuple[str, Loaded]:
    """The state of the files, and the collection as it is then or later."""
    collection = loaded.collection
    files = (
        collection.source_signature(),
        collection.question_signature(),
        collection.label_signature(),
        more,
    )
    version = digest([str(collection.labels_folder), repr(files), repr(collection.settings)])
    return version, state.load_collection(collection.name)


@st.cache_resource(max_entries=4, show_spinner=False)
def _firsts(version: str, _loaded: Loaded, since: str | None) -> Firsts:
    return agreeing.first_judgments(_loaded, since)


@st.cache_resource(max_entries=16, show_spinner=False)
def _agreement(version: str, _loaded: Loaded, category: str | None, since: str | None) -> Agreement:
    firsts = _firsts(version, _loaded, since)
    return agreeing.agreement(_loaded, firsts, category, since)


@st.cache_resource(max_entries=4, show_spinner=False)
def _disputes(version: str, _loaded: Loaded, states: tuple[State, ...]) -> list[Dispute]:
    return adjudicating.disputes(_loaded, states)


@st.cache_resource(max_entries=4, show_spinner=False)
def _effects(
    version: str, _loaded: Loaded, states: tuple[State, ...]
) -> Mapping[tuple[str, str], Effect]:
    return effects(_loaded, _disputes(version, _loaded, states))
