"""Searches of this session, so that a press elsewhere on the page does not ask again."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from app.core.errors import EngineError
from app.core.text import digest
from app.flows.manifests import manifest_path
from app.flows.one_search import OneSearch, ask
from app.flows.searching import depth_of
from app.settings import Configuration
from app.ui import state
from app.ui.retrieve.picking import Wanted
from app.workspace import signature_of


@dataclass(frozen=True, slots=True)
class Failed:
    """A search that could not even begin, and why."""

    error: EngineError


def search(wanted: Wanted, name: str, configuration: Configuration) -> OneSearch | Failed:
    """What was found before for just this, or a search now.

    What failed is not asked again by itself, for who reads it may have to wait for a time-out each
    time: `Search again` does. Raises NotReady, which costs nothing to look at again.
    """
    loaded = wanted.view.loaded
    settings = loaded.collection.settings
    depth = depth_of(configuration, [*settings.scoring.cutoffs, wanted.k])
    key = digest(
        [
            loaded.collection.name,
            loaded.corpus.revision,
            settings.model_dump(exclude={"configurations"}, mode="json"),
            {field: list(values) for field, values in wanted.view.filters.items()},
            name,
            configuration.model_dump(),
            wanted.text,
            wanted.question,
            depth,
            # What was indexed, or synced, since then may be another thing.
            signature_of([manifest_path(loaded.collection, configuration)]),
            loaded.collection.sync().synced if settings.foreign else None,
        ]
    )
    # Only what is on screen: a search holds its engine in memory.
    kept: dict[str, OneSearch | Failed] = st.session_state.setdefault("searches", {})
    found = kept.pop(key, None)
    if found is None:
        with st.spinner(f"Searching with {name}"):
            try:
                found = ask(
                    wanted.view,
                    name,
                    configuration,
                    wanted.text,
                    depth,
                    question=wanted.question,
                    engine_for=state.kept().engine,
                )
            except EngineError as error:
                found = Failed(error)
    kept[key] = found
    while len(kept) > len(wanted.configurations):
        del kept[next(iter(kept))]
    if isinstance(found, OneSearch):
        found.view = wanted.view  # labels may have changed since
    return found
