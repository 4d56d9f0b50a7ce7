"""A service in this process, and how tests call it."""

from __future__ import annotations

from typing import Any

import pytest

from deadpan.serve.server import ServeSettings

pytest.importorskip("litestar")
httpx = pytest.importorskip("httpx")


class Caller:
    """Calls an application without a socket."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def __call__(self, method: str, path: str, **request: Any) -> Any:
        import asyncio

        async def call() -> Any:
            transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **request)

        return asyncio.run(call())

    def detect(self, body: Any, **request: Any) -> Any:
        return self("POST", "/v1/detect", json=body, **request)


@pytest.fixture(scope="session")
def make_caller():
    """Return a function that makes a service with some settings."""
    from deadpan.serve.app import create_app

    return lambda encoder=False, **settings: Caller(create_app(ServeSettings(encoder=encoder, **settings)))


@pytest.fixture(scope="session")
def caller(make_caller):
    return make_caller(rate=0)
