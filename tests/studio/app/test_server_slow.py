"""Slow clients: forty that never finish what they send, and everybody else goes on."""

from __future__ import annotations

import http.client
import shutil
import socket

import pytest

from studio.crowd import Annotator, Server, crowd, prepare

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
HALF = (
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 4000\r\n\r\nname=sl"
)


def test_forty_slow_posts_stall_nobody(tmp_path, template):
    server = Server(tmp_path / "home")
    server.home.mkdir()
    shutil.copy(template, server.home / "studio.sqlite3")
    token = prepare(server, tmp_path / "study", n_items=3)
    server.start()
    try:
        (person,) = crowd(server, token, 1)
        # A loaded machine may need longer for everybody else than the server waits for a slow client.
        assert any(goes_on(server, person) for _ in range(3))
        person.close()
    finally:
        server.kill()


def goes_on(server: Server, person: Annotator) -> bool:
    """Return whether others were answered while forty slow clients were still waited for."""
    slow = [socket.create_connection(("localhost", server.port), timeout=120) for _ in range(40)]
    for client in slow:
        client.sendall(HALF)
    person.save()
    connection = http.client.HTTPConnection("localhost", server.port, timeout=120)
    for _ in range(3):
        connection.request("GET", "/login")
        assert connection.getresponse().read()
    connection.close()
    waited = all(waits(client) for client in slow)
    # In the end each is told and let go.
    assert {client.recv(4000).split(b"\r\n")[0] for client in slow} == {b"HTTP/1.1 408 Request Timeout"}
    for client in slow:
        client.close()
    return waited


def waits(client: socket.socket) -> bool:
    """Return whether the server has said nothing yet."""
    client.setblocking(False)
    try:
        client.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    finally:
        client.settimeout(120)
    return False
