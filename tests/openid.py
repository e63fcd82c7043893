"""An OpenID provider over HTTP that signs everybody in at once, as whom the test says."""

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "desk", "the-client's-secret"


class Provider(ThreadingHTTPServer):
    """`claims` is who signs in next; `seen` are the paths that were asked for."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("localhost", 0), Answering)
        self.address = f"http://localhost:{self.server_port}"
        self.key = RSAKey.generate_key(2048, parameters={"kid": "one"})
        self.claims = {}
        self.codes = {}
        self.seen = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def metadata(self):
        ends = ("authorization", "token", "end_session")
        return {
            "issuer": self.address,
            "jwks_uri": f"{self.address}/jwks",
            **{f"{end}_endpoint": f"{self.address}/{end}" for end in ends},
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def token(self, nonce):
        now = int(time.time())
        claims = {"iss": self.address, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 600}
        return jwt.encode(
            {"alg": "RS256", "kid": "one"}, {**claims, "nonce": nonce, **self.claims}, self.key
        )

    def secrets(self, port):
        """What `.streamlit/secrets.toml` holds for a dashboard at a port."""
        return (
            "[auth]\n"
            f'redirect_uri = "http://localhost:{port}/oauth2callback"\n'
            f'cookie_secret = "{"0123456789abcdef" * 4}"\n'
            f'client_id = "{CLIENT}"\n'
            f'client_secret = "{SECRET}"\n'
            f'server_metadata_url = "{self.address}/.well-known/openid-configuration"\n'
        )


class Answering(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        self.server.seen.append(url.path)
        if url.path == "/authorization":
            code = f"code-{len(self.server.codes)}"
            self.server.codes[code] = asked["nonce"]
            self.go(f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}")
        elif url.path == "/end_session":
            self.go(asked["post_logout_redirect_uri"])
        elif url.path == "/jwks":
            self.say({"keys": [self.server.key.as_dict(private=False)]})
        else:
            self.say(self.server.metadata)

    def do_POST(self):
        self.server.seen.append(self.path)
        asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        known = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        nonce = self.server.codes.pop(asked["code"][0], None)
        if nonce is None or self.headers["Authorization"] != known:
            self.send_error(400)
            return
        self.say(
            {"access_token": "x", "token_type": "Bearer", "id_token": self.server.token(nonce)}
        )

    def go(self, address):
        self.send_response(302)
        self.send_header("Location", address)
        self.end_headers()

    def say(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing on stderr."""
