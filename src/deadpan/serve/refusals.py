"""Requests that are refused, each with an HTTP status, a code for programs and a sentence for people."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """An answer other than 2xx; `field` names the part of the request that is wrong."""

    def __init__(
        self, status: int, code: str, message: str, *, field: str = "", retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.field = status, code, message, field
        self.retry_after = retry_after

    def body(self, request_id: str) -> dict[str, Any]:
        """Return the JSON of the answer."""
        error = {"code": self.code, "message": self.message}
        if self.field:
            error["field"] = self.field
        return {"error": error, "request_id": request_id}
