"""Slow clients: forty that never finish what they send stall nobody, and each is let go in the end."""

from __future__ import annotations

import http.client
import shutil
import socket
from contextlib import contextmanager

import pytest

from studio.crowd import Server, crowd, prepare

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
HALF = (
    b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 4000\r\n\r\nname=sl"
)


@contextmanager
def served(home, template, body_seconds: float, study=None):
    """A server that waits so long for a body, and the token of a study where one is asked for."""
    server = Server(home, body_seconds=body_seconds)
    server.home.mkdir()
    shutil.copy(template, server.home / "studio.sqlite3")
    if study:
        server.token = prepare(server, study, n_items=3)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def slow_client(server: Server) -> socket.socket:
    client = socket.create_connection(("localhost", server.port), timeout=120)
    client.sendall(HALF)
    return client


def test_forty_slow_posts_stall_nobody(tmp_path, template):
    # The server waits for the slow ones longer than the test takes, however loaded the machine is.
    with served(tmp_path / "home", template, 600.0, tmp_path / "study") as server:
        slow = [slow_client(server) for _ in range(40)]
        (person,) = crowd(server, server.token, 1)
        person.save()
        person.close()
        connection = http.client.HTTPConnection("localhost", server.port, timeout=120)
        for _ in range(3):
            connection.request("GET", "/login")
            assert connection.getresponse().read()
        connection.close()
        assert all(waits(client) for client in slow)
        for client in slow:
            client.close()


def waits(client: socket.socket) -> bool:
    """Return whether the server has said nothing yet."""
    client.setblocking(False)
    try:
        client.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    return False


def test_a_slow_client_is_told_and_let_go(tmp_path, template):
    with served(tmp_path / "home", template, 0.1) as server, slow_client(server) as client:
        assert client.recv(4000).split(b"\r\n")[0] == b"HTTP/1.1 408 Request Timeout"
