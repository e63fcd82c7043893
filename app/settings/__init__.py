"""Settings of a collection, validated once, where they are read."""

from app.settings.collection import (
    METRIC_NAMES,
    MODELS,
    CollectionSettings,
    check_cutoffs,
    split_metric,
)
from app.settings.configuration import DEEPEST, Configuration, Mode
from app.settings.connection import Qdrant
from app.settings.sources import Source

__all__ = [
    "DEEPEST",
    "METRIC_NAMES",
    "MODELS",
    "CollectionSettings",
    "Configuration",
    "Mode",
    "Qdrant",
    "Source",
    "check_cutoffs",
    "split_metric",
]
