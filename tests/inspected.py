"""One question of a collection, searched and scored as it is configured."""

from app.flows.inspecting import inspect
from app.flows.one_search import ask
from app.flows.searching import depth_of, fresh_engine
from app.flows.trying import view_of


def inspect_question(loaded, configuration, question, k, engine_for=fresh_engine):
    """What page Retrieve shows of it."""
    settings = loaded.collection.configuration(configuration)
    search = ask(
        view_of(loaded),
        configuration,
        settings,
        loaded.questions[question].text,
        depth_of(settings, [*loaded.collection.settings.scoring.cutoffs, k]),
        question=question,
        engine_for=engine_for,
    )
    return inspect(search, k)
