"""`data/desk.toml` and the start of a server with a sign-in: what is refused, and the sentence."""

import json
import os

import pytest

from app.core.errors import InvalidInput
from app.launch import command, exposure, require_sign_in, serve
from app.team import STARTED_WITH, Roles, SignIn, Team, read_team
from app.workspace import Workspace

PROXY = SignIn(kind="proxy", header="X-Forwarded-Email")
OIDC = SignIn(kind="oidc")
SECRETS = {
    "redirect_uri": "https://desk.example.org/oauth2callback",
    "cookie_secret": "0123456789abcdef" * 2,
    "client_id": "desk",
    "client_secret": "hidden",
    "server_metadata_url": "https://id.example.org/.well-known/openid-configuration",
}


@pytest.fixture
def team(tmp_path):
    def read(text):
        (tmp_path / "desk.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_team(tmp_path)

    return read


@pytest.fixture
def refused(team):
    """The sentences for settings that are refused, without their place."""

    def read(text):
        with pytest.raises(InvalidInput) as caught:
            team(text)
        found = [str(problem) for problem in caught.value.problems]
        assert all(one.startswith("data/desk.toml: ") for one in found)
        return [one.removeprefix("data/desk.toml: ") for one in found]

    return read


def test_without_the_file_everybody_may_do_everything(tmp_path):
    found = read_team(tmp_path)
    assert found == Team(format=1) and found.notices == ()
    assert found.may_grade("anybody") and found.may_adjudicate("anybody")


def test_names_are_identities(team):
    found = team(
        "\ufeff" + 'format = 1\n[sign_in]\nkind = "oidc"\n[roles]\n'
        'reviewers = [" Ana@Example.org", "Bjo\u0308rn"]\n'
    )
    assert found.roles.reviewers == ["ana@example.org", "bj\u00f6rn"]
    assert found.may_grade("ana@example.org") and not found.may_grade("ben")
    assert found.may_adjudicate("ben") and found.notices == ()


def test_roles_without_a_sign_in_are_allowed_and_told(team):
    assert team('format = 1\n[roles]\nadjudicators = ["ben"]\n').notices == (
        "The roles in data/desk.toml protect nothing without a sign-in: anybody can enter any "
        "name.",
    )


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", ["the key format is missing. Add format."]),
        ("format = 2", ["format is \"2\", not 1. Correct it."]),
        ("format = 1\n[signin]", ['unknown key "signin". Did you mean sign_in?']),
        ("format = 1\n[sign_in]", ["the key sign_in.kind is missing. Add sign_in.kind."]),
        (
            'format = 1\n[sign_in]\nkind = "ldap"',
            ["sign_in.kind is \"ldap\", not 'proxy' or 'oidc'. Correct it."],
        ),
        (
            'format = 1\n[sign_in]\nkind = "proxy"',
            ["sign_in kind 'proxy' needs header, such as \"X-Forwarded-Email\". Correct it."],
        ),
        (
            'format = 1\n[sign_in]\nkind = "oidc"\nheader = "X-User"',
            ["sign_in header is for kind 'proxy'; remove it. Correct it."],
        ),
        (
            'format = 1\n[sign_in]\nkind = "proxy"\nheader = "X_User"',
            ["sign_in header 'X_User' may have letters, digits and '-' only. Correct it."],
        ),
        (
            "format = 1\n[roles]\nreviewers = []",
            ["roles.reviewers is empty, so that nobody has the role; name somebody, or remove it. "
             "Correct it."],
        ),
        (
            'format = 1\n[roles]\nreviewers = ["ana", " "]\nadjudicators = "ben"',
            ['roles.reviewers.1 cannot be a reviewer: the name " " is blank. Correct it.',
             "roles.adjudicators is \"'ben'\", not list. Correct it."],
        ),
        (b"\xff", ["the file is not UTF-8. Save it so."]),
    ],
)  # fmt: skip
def test_what_is_refused(refused, text, sentences):
    assert refused(text) == sentences


def test_what_is_no_toml(refused):
    (sentence,) = refused("format =")
    assert sentence.startswith("not TOML: ")


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "desk.toml").mkdir()
    with pytest.raises(InvalidInput, match=r"data/desk.toml: the file cannot be read: Is a dir"):
        read_team(tmp_path)


def test_desk_refuses_it_before_any_work(runbooks, desk):
    (runbooks / "data/desk.toml").write_text("format = 1\nroles = 3\n")
    for words in ((), ("--no-serve",)):
        answer = desk(runbooks, *words)
        assert (answer.code, answer.out) == (2, "")
        (error,) = answer.errors
        assert error.startswith("error: data/desk.toml: roles is ")


def test_the_server_is_told_which_header_to_trust():
    (flag,) = [one for one in command("::1", 1, PROXY) if "trustedUserHeaders" in one]
    assert flag == '--server.trustedUserHeaders={"X-Forwarded-Email": "email"}'
    assert "--server.trustedUserHeaders={}" in command("::1", 1, OIDC)
    assert not [one for one in command("::1", 1) if "trustedUserHeaders" in one]


@pytest.mark.parametrize("sign_in", [None, PROXY, OIDC])
def test_a_server_knows_what_it_was_started_with(runbooks, monkeypatch, sign_in):
    started = []
    monkeypatch.setattr("os.execv", lambda path, words: started.append(words))
    monkeypatch.chdir(runbooks)
    monkeypatch.setenv(STARTED_WITH, "something else")
    serve(Workspace.at(runbooks), "localhost", 8765, sign_in)
    assert started == [command("localhost", 8765, sign_in)]
    assert os.environ[STARTED_WITH] == {None: "", PROXY: str(PROXY), OIDC: "oidc"}[sign_in]


def test_what_whoever_reaches_the_port_can_do():
    assert exposure("127.0.0.1", PROXY) is None and exposure("0.0.0.0", OIDC) is None
    assert exposure("0.0.0.0", PROXY) == (
        "whoever reaches this address past the proxy can sign in as anybody, by the header "
        "X-Forwarded-Email: let a firewall admit the proxy alone, or listen on 127.0.0.1."
    )


def test_notes_at_the_start(runbooks, desk, monkeypatch):
    monkeypatch.setattr("app.cli.serve", lambda *words: None)
    settings = runbooks / "data/desk.toml"
    settings.write_text('format = 1\n[roles]\nreviewers = ["ana"]\n')
    assert desk(runbooks).notes == [
        f"note: {Team(format=1, roles=Roles(reviewers=['ana'])).notices[0]}"
    ]
    settings.write_text('format = 1\n[sign_in]\nkind = "proxy"\nheader = "X-User"\n')
    assert desk(runbooks).notes == []
    (note,) = desk(runbooks, "--address", "0.0.0.0").notes
    assert "past the proxy" in note and "X-User" in note


@pytest.fixture
def lacking(tmp_path):
    """The sentences on a workspace whose secrets are these."""

    def read(secrets):
        if secrets is not None:
            (tmp_path / ".streamlit").mkdir(exist_ok=True)
            text = secrets
            if isinstance(secrets, dict):
                text = "[auth]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in secrets.items())
            (tmp_path / ".streamlit/secrets.toml").write_text(text)
        with pytest.raises(InvalidInput) as caught:
            require_sign_in(tmp_path, OIDC)
        assert SECRETS["client_secret"] not in str(caught.value)
        return [str(problem) for problem in caught.value.problems]

    return read


def test_a_sign_in_that_has_all_it_needs(tmp_path):
    require_sign_in(tmp_path, None)
    require_sign_in(tmp_path, PROXY)
    (tmp_path / ".streamlit").mkdir()
    lines = "".join(f'{key} = "{value}"\n' for key, value in SECRETS.items())
    (tmp_path / ".streamlit/secrets.toml").write_text(f"[auth]\n{lines}")
    require_sign_in(tmp_path, OIDC)


def test_without_secrets(lacking):
    assert lacking(None) == [
        ".streamlit/secrets.toml: a sign-in of kind 'oidc' needs this file, which is not there. "
        "Write [auth] with redirect_uri, cookie_secret, client_id, client_secret, "
        "server_metadata_url into it."
    ]


def test_with_secrets_that_lack_something(lacking):
    place = ".streamlit/secrets.toml: "
    weak = SECRETS | {"cookie_secret": "xxx", "redirect_uri": "desk.example.org", "client_id": ""}
    assert lacking(weak) == [
        f"{place}auth.redirect_uri is no address of this dashboard. Write https://<address of the "
        "dashboard>/oauth2callback.",
        f"{place}auth.cookie_secret has fewer than 32 characters. Make one: python3 -c 'import "
        "secrets; print(secrets.token_hex())'.",
        f"{place}auth.client_id is missing. Add client_id = ... under [auth].",
    ]
    assert len(lacking("auth = 3\n")) == len(lacking("[other]\n")) == 5
    assert lacking('[auth]\nclient_secret = "hidden\n') == [
        f"{place}not TOML in UTF-8. Correct it."
    ]


def test_without_authlib(lacking, monkeypatch):
    monkeypatch.setattr("app.launch.find_spec", lambda name: None)
    assert lacking(SECRETS) == [
        "data/desk.toml: a sign-in of kind 'oidc' needs the package authlib, which is not "
        "installed. Install it with this program: pip install '.[auth]'."
    ]


def test_desk_refuses_to_serve_without_them_but_still_evaluates(runbooks, desk):
    (runbooks / "data/desk.toml").write_text('format = 1\n[sign_in]\nkind = "oidc"\n')
    answer = desk(runbooks)
    assert (answer.code, answer.out) == (2, "") and "secrets.toml" in answer.err
    assert desk(runbooks, "--no-serve").code == 0
