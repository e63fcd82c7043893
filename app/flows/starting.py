"""`desk init`: an empty, commented workspace."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from app.core.errors import InvalidInput

_NAME = "my-collection"
#: Where each file goes, and the template it is made from; None: an empty file.
_FILES: dict[str, str | None] = {
    ".gitignore": "gitignore.txt",
    ".gitattributes": "gitattributes.txt",
    f"data/{_NAME}/collection.toml": "collection.toml",
    f"data/{_NAME}/corpus/.gitkeep": None,
    f"labels/{_NAME}/questions.jsonl": None,
    f"labels/{_NAME}/guidelines.md": "guidelines.md",
}


#: The same without a collection, which imports bring.
_BARE: dict[str, str | None] = {
    ".gitignore": "gitignore.txt",
    ".gitattributes": "gitattributes.txt",
    "data/.gitkeep": None,
    "labels/.gitkeep": None,
}


def init(folder: Path, *, bare: bool = False) -> list[str]:
    """Make a workspace in a folder, `bare` without a collection; returns the files made.

    Raises InvalidInput where one of them is there already; nothing is written then.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidInput("this is a file", place=str(folder), remedy="Name a folder")
    files = _BARE if bare else _FILES
    taken = [name for name in files if (folder / name).exists()]
    if taken or (folder / "data").exists():
        raise InvalidInput(
            f"there is {taken[0] if taken else 'a folder data'} already, nothing was written",
            place=str(folder),
            remedy="Name an empty folder",
        )
    templates = resources.files("app.flows") / "template"
    try:
        for name, template in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (templates / template).read_text(encoding="utf-8") if template else ""
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InvalidInput(
            f"the workspace cannot be written: {error.strerror}",
            place=str(folder),
            remedy="Name a folder you may write to",
        ) from error
    return list(files)
