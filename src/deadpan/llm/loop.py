"""One event loop in a thread of its own, on which every call to a language model runs.

So there is one way to call, not one for threads and one for asyncio: connections, the limit on
concurrency and the money spent live in one place and need no locks, and a plain function works
where a loop is already running, as in a notebook.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
_owner = 0


def background() -> asyncio.AbstractEventLoop:
    """The loop, started on first need; a forked child has no thread of its parent's and gets its own."""
    global _loop, _thread, _owner
    with _lock:
        if _loop is None or _owner != os.getpid():
            _loop, _owner = asyncio.new_event_loop(), os.getpid()
            _thread = threading.Thread(target=_loop.run_forever, name="deadpan-llm", daemon=True)
            _thread.start()
            atexit.register(_stop, _loop, _thread, _owner)
        return _loop


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start work on the loop."""
    return asyncio.run_coroutine_threadsafe(work, background())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do work on the loop and wait for it; an interrupt here ends it there."""
    loop = background()
    if _thread is threading.current_thread():
        work.close()
        raise RuntimeError("a callback of a call cannot wait for another call: use the async form")
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread, owner: int) -> None:
    if owner != os.getpid():
        return
    loop.call_soon_threadsafe(loop.stop)
    thread.join(timeout=2)
    if not thread.is_alive():
        loop.close()
