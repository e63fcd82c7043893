"""A workspace to grade in, and what a reviewer does in a browser."""

import json

from playwright.sync_api import expect

from tests.conftest import judgment, lines_of

HOSTILE = {
    "script": "<script>window.ran = 1</script><img src=x onerror='window.ran = 1'>",
    "math": "The price is $x$ and $$y^2$$, or :red[x] and ![](http://203.0.113.9/x.png).",
    "long": "A long line of words without any end. " * 5_200,
    "right": "مرحبا بالعالم \u202eabc\u202c שלום",
    "family": "The 👩\u200d👩\u200d👧\u200d👦 family and e\u0301 and z\u200be\u200br\u200bo width.",
    "control": "Bell \x07, escape \x1b[31m, form feed \x0c, delete \x7f and \x85.",
    "link": "[click](javascript:alert(1)) `code` **bold** # no heading | a | b |",
}
TEXTS = {
    f"c{n}": f"Chunk number {n} says this. And it says that too. Page {n} ends." for n in range(14)
}
QUESTIONS = {f"q{n}": f"What does page {n} say of widgets?" for n in range(6)}
#: Nothing of this may reach a browser before one's own label is in.
SECRETS = ("secret-reviewer", "SECRET-NOTE", "secret-configuration")


def build(root):
    """A workspace with a plain and a hostile collection, and labels nobody may see."""
    for name, texts in (("plain", TEXTS), ("hostile", HOSTILE)):
        data, kept = root / "data" / name, root / "labels" / name
        data.mkdir(parents=True)
        (kept / "judgments").mkdir(parents=True)
        lines = [
            {"id": one, "text": text, "title": f"Title of {one}"} for one, text in texts.items()
        ]
        (data / "corpus.jsonl").write_text(lines_of(lines), encoding="utf-8")
        (data / "collection.toml").write_text(
            'format = 1\n[source]\nkind = "jsonl"\npath = "corpus.jsonl"\n'
            'fields = { chunk = "id", text = "text", title = "title" }\n'
            '[chunking]\nrule = "as-is-v1"\n[queue]\noverlap = 1.0\n'
            '[configurations.secret-configuration]\nmode = "sparse"\n',
            encoding="utf-8",
        )
        questions = [
            {
                "format": 1, "id": q, "category": "general", "text": words,
                "facts": [{"id": "f1", "text": "It says that too."}],
            }
            for q, words in QUESTIONS.items()
        ]  # fmt: skip
        (kept / "questions.jsonl").write_text(lines_of(questions), encoding="utf-8")
        first = next(iter(texts))
        secret = judgment("q0", first, 2, 0, author=SECRETS[0], note=SECRETS[1])
        (kept / f"judgments/{SECRETS[0]}.jsonl").write_text(lines_of([secret]), encoding="utf-8")
    return root


class Reviewer:
    """A reviewer at a page."""

    def __init__(self, page, address, root, name, collection="plain"):
        self.page, self.address, self.name, self.collection = page, address, name, collection
        self.file = root / f"labels/{collection}/judgments/{name}.jsonl"

    def open(self, **query):
        words = "&".join(f"{key}={value}" for key, value in query.items())
        self.page.goto(f"{self.address}/?collection={self.collection}&reviewer={self.name}&{words}")
        # The first page of a server reads all files.
        expect(self.page.locator("[data-item]")).to_be_visible()
        self.page.wait_for_function("window.__desk?.now?.item")
        return self

    @property
    def item(self):
        return self.page.locator("[data-item]").get_attribute("data-item")

    def press(self, key, *, moves=True):
        """A key; waits for the next item where the key leads to one."""
        before = self.item
        self.settle()
        self.page.keyboard.press(key)
        if moves:
            expect(self.page.locator("[data-item]")).not_to_have_attribute("data-item", before)
        self.settle()

    def hold(self, key):
        """A key that is held down: the system repeats it."""
        before = self.item
        for _ in range(8):
            self.page.keyboard.down(key)
            self.page.wait_for_timeout(60)
        self.page.keyboard.up(key)
        expect(self.page.locator("[data-item]")).not_to_have_attribute("data-item", before)
        self.page.wait_for_timeout(500)

    def write_note(self, words):
        """Words typed into the note, which is left open; returns its field."""
        self.press("n", moves=False)
        field = self.page.get_by_label("Note")
        expect(field).to_be_focused()
        self.page.keyboard.type(words)
        return field

    def settle(self):
        """Wait until what is on screen takes keys."""
        self.page.wait_for_function(
            "() => { const n = window.__desk?.now; return n && !n.sent &&"
            " n.item === document.querySelector('[data-item]')?.dataset.item; }"
        )

    @property
    def events(self):
        if not self.file.exists():
            return []
        return [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]

    @property
    def refused(self):
        return self.page.get_by_text("before the next item was on screen")
