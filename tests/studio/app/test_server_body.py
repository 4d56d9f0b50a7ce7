"""The body of a request has a deadline."""

from __future__ import annotations

import io

import pytest

from deadpan.studio.app.server import _BODY_RATE, _BODY_SECONDS, _SMALL_BODY, BodyDeadline


class Slow(io.BytesIO):
    """A body of which each read takes some seconds."""

    def __init__(self, body: bytes, seconds: float) -> None:
        super().__init__(body)
        self.now, self.seconds, self.reads = 0.0, seconds, 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        self.now += self.seconds
        return super().read(size)


def asked(body: Slow, length: str) -> tuple[str, bytes]:
    said: list[str] = []

    def application(environ, start_response):
        start_response("200 OK", [])
        return [environ["wsgi.input"].read()]

    prompt = BodyDeadline(application, clock=lambda: body.now)
    environ = {"CONTENT_LENGTH": length, "wsgi.input": body}
    content = b"".join(prompt(environ, lambda status, headers: said.append(status)))
    return said[0], content


def test_a_body_that_comes_in_time_is_read_whole():
    body = b"x" * 100
    assert asked(Slow(body, 0.5), "100") == ("200 OK", body)


def test_a_body_that_drips_is_refused_before_the_application_runs():
    slow = Slow(b"x" * 1000, 1.0)
    assert asked(slow, "1000") == ("408 Request Timeout", b"too slow")
    assert slow.now <= _BODY_SECONDS + 1000 / _BODY_RATE + 1.0


def test_a_body_cut_off_ends_at_once():
    slow = Slow(b"x" * 5, 0.1)
    assert asked(slow, "1000") == ("200 OK", b"x" * 5)
    assert slow.reads == 2


@pytest.mark.parametrize("length", ["", "0", "-3", "²", "many", str(_SMALL_BODY + 1)])
def test_other_lengths_are_left_to_the_application(length):
    slow = Slow(b"x" * 5, 0.1)
    assert asked(slow, length)[0] == "200 OK"
    assert slow.reads == 1
