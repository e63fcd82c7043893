"""Sessions on a running dashboard over raw websockets, without a browser: what a page's script
sends, and the presses a browser would send back."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, field
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.labelpage import pressed_state


@dataclass
class Seen:
    """What a run left on screen: all HTML, and what the bar was given with the ids to press it."""

    html: list[str] = field(default_factory=list)
    bar: dict[str, Any] = field(default_factory=dict)
    component: str = ""
    fragment: str = ""

    @property
    def item(self) -> str | None:
        """The id of the item on screen."""
        found = [m[1] for body in self.html if (m := re.search(r'data-item="(\w+)"', body))]
        return found[-1] if found else None

    @property
    def saved(self) -> str | None:
        """The sentence that something was saved."""
        return self.bar["status"]["saved"] if self.bar else None


class Session:
    """One session; use `async with`."""

    def __init__(self, address: str, query: str) -> None:
        """`address` is that of the dashboard, `query` what a link asks for."""
        self._url = address.replace("http", "ws", 1) + "/_stcore/stream"
        self._origin = address
        self._query = query
        self._page = ""
        self.raw: list[bytes] = []
        self.seen = Seen()

    async def __aenter__(self) -> Session:
        self._socket = await websockets.connect(
            self._url,
            subprotocols=["streamlit"],
            max_size=None,
            origin=self._origin,  # type: ignore[list-item, arg-type]
        )
        message = BackMsg()
        message.rerun_script.query_string = self._query
        await self._send(message)
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self._socket.close()

    async def press(self, act: str) -> float:
        """Press the button of an act on the item on screen; returns the seconds it took."""
        bar = self.seen.bar
        assert act in [button["act"] for button in bar["judging"] + bar["tools"]]
        message = BackMsg()
        message.rerun_script.query_string = self._query
        message.rerun_script.fragment_id = self.seen.fragment
        message.rerun_script.page_script_hash = self._page
        value = {"act": act, "item": bar["item"], "acts": bar["acts"], "value": None}
        message.rerun_script.widget_states.widgets.append(pressed_state(self.seen.component, value))
        began = time.perf_counter()
        await self._send(message)
        return time.perf_counter() - began

    async def _send(self, message: BackMsg) -> None:
        await self._socket.send(message.SerializeToString())
        seen = Seen()
        while True:
            raw = await asyncio.wait_for(self._socket.recv(), 60)
            assert isinstance(raw, bytes)
            self.raw.append(raw)
            found = ForwardMsg()
            found.ParseFromString(raw)
            kind = found.WhichOneof("type")
            if kind == "navigation":
                self._page = found.navigation.page_script_hash
            elif kind == "delta" and found.delta.WhichOneof("type") == "new_element":
                element = found.delta.new_element
                if element.WhichOneof("type") == "bidi_component":
                    seen.bar = json.loads(element.bidi_component.json)
                    seen.component = element.bidi_component.id
                    seen.fragment = found.delta.fragment_id
                elif element.WhichOneof("type") == "html":
                    seen.html.append(element.html.body)
            elif kind == "script_finished":
                self.seen = seen
                return
