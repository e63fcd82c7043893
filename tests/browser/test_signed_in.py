"""Signing in for real: a header as a proxy sends it, and an OpenID provider."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, desk_serving
from tests.openid import Provider

pytestmark = [pytest.mark.browser, pytest.mark.slow]
HEADER = "X-Forwarded-Email"
ROLES = '[roles]\nreviewers = ["ana@example.org", "ben@example.org"]\n'


@pytest.fixture(scope="module")
def by_proxy(another_evaluated):
    """A dashboard that trusts a header: its address and its workspace."""
    root = another_evaluated("proxy")
    text = f'format = 1\n[sign_in]\nkind = "proxy"\nheader = "{HEADER}"\n{ROLES}'
    (root / "data/desk.toml").write_text(text)
    with desk_serving(root) as address:
        yield address, root


@pytest.fixture(scope="module")
def provider():
    """An OpenID provider; whoever signs in says as whom."""
    provider = Provider()
    yield provider
    provider.shutdown()
    provider.server_close()


@pytest.fixture(scope="module")
def by_openid(another_evaluated, provider):
    """A dashboard that signs in by OpenID Connect: its address and its workspace."""
    root = another_evaluated("openid")
    (root / "data/desk.toml").write_text(f'format = 1\n[sign_in]\nkind = "oidc"\n{ROLES}')
    (root / ".streamlit").mkdir()
    (root / ".streamlit/secrets.toml").write_text(provider.secrets("{port}"))
    with desk_serving(root) as address:
        yield address, root


@pytest.fixture
def behind_proxy(chromium):
    """Opens a page whose every request carries the header."""
    contexts = []

    def run(name):
        contexts.append(chromium.new_context(extra_http_headers={HEADER: name}))
        contexts[-1].set_default_timeout(PATIENCE)
        return contexts[-1].new_page()

    yield run
    for context in contexts:
        context.close()


def authors(root):
    """Who graded, by the ledgers' lines; the sample's reviewer apart."""
    found = []
    for path in sorted((root / "labels/runbooks/judgments").glob("*@*.jsonl")):
        found += [json.loads(line)["author"] for line in path.read_text().splitlines()]
    return found


def grade(page):
    page.get_by_role("button", name="Start grading").click()
    page.get_by_role("button", name="0 does not help").click()
    expect(page.get_by_text("Saved")).to_be_visible()


def test_two_people_behind_a_proxy_grade_under_their_own_names(by_proxy, behind_proxy):
    dashboard, root = by_proxy
    pages = [behind_proxy(name) for name in ("Ana@Example.org", "ben@example.org")]
    for page in pages:
        page.goto(f"{dashboard}/?reviewer=mallory")
        expect(page.get_by_text("Signed in as")).to_be_visible()
    for page in pages:
        grade(page)
    assert authors(root) == ["ana@example.org", "ben@example.org"]
    expect(pages[0].get_by_role("button", name="Sign out")).to_have_count(0)


def test_without_the_role_one_reads(by_proxy, behind_proxy):
    dashboard, _ = by_proxy
    page = behind_proxy("dan@example.org")
    page.goto(dashboard)
    expect(page.get_by_text("You may read but not grade")).to_be_visible()
    expect(page.get_by_test_id("chunk")).to_be_visible()
    expect(page.get_by_role("button", name="does not help")).to_have_count(0)
    page.goto(f"{dashboard}/retrieve?question=restart-recovery")
    expect(page.get_by_text("Scores at K").first).to_be_visible()


def test_past_the_proxy_there_is_nothing(screen, by_proxy):
    dashboard, _ = by_proxy
    for page in ("review", "", "retrieve", "label"):
        screen.goto(f"{dashboard}/{page}?reviewer=ana@example.org")
        expect(screen.get_by_text("Nobody is signed in")).to_be_visible()
        expect(screen.get_by_role("heading", level=1)).to_have_text("Sign in")
        expect(screen.get_by_role("textbox")).to_have_count(0)


def test_somebody_signs_in_grades_and_signs_out(screen, provider, by_openid):
    dashboard, root = by_openid
    provider.claims = {"email": "Ana@Example.org", "email_verified": True}
    # A header is nothing where nobody set up a proxy.
    screen.set_extra_http_headers({HEADER: "ben@example.org"})
    screen.goto(f"{dashboard}/review")
    screen.get_by_role("button", name="Sign in").click()
    expect(screen.get_by_text("ana@example.org")).to_be_visible()
    grade(screen)
    screen.get_by_role("button", name="Sign out").click()
    expect(screen.get_by_role("button", name="Sign in")).to_be_visible()
    assert provider.seen[-1] == "/end_session" and authors(root) == ["ana@example.org"]
    screen.goto(dashboard)
    expect(screen.get_by_role("button", name="Sign in")).to_be_visible()
    assert screen.outside == []


def test_an_account_without_a_verified_address_can_only_sign_out(screen, provider, by_openid):
    dashboard, _ = by_openid
    provider.claims = {"email": "ana@example.org", "email_verified": False}
    screen.goto(dashboard)
    screen.get_by_role("button", name="Sign in").click()
    expect(screen.get_by_role("alert")).to_contain_text("no verified e-mail address")
    screen.get_by_role("button", name="Sign out").click()
    expect(screen.get_by_role("button", name="Sign in")).to_be_visible()
