"""One event loop in a background thread, on which every call to a language model runs.

It makes one implementation serve threads and asyncio alike: connections, the limit on concurrency and the
budget live on one loop and need no locks, and a plain function works where a loop is already running, as in
a notebook.
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
    """Return the loop, started on first use; a forked child does not inherit the thread and gets its own."""
    global _loop, _thread, _owner
    with _lock:
        if _loop is None or _owner != os.getpid():
            _loop, _owner = asyncio.new_event_loop(), os.getpid()
            _thread = threading.Thread(target=_loop.run_forever, name="deadpan-llm", daemon=True)
            _thread.start()
            atexit.register(_stop, _loop, _thread, _owner)
        return _loop


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine on the loop and return its future."""
    return asyncio.run_coroutine_threadsafe(work, background())


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop and return its result; an interrupt here cancels it there."""
    loop = background()
    if _thread is threading.current_thread():
        work.close()
        raise RuntimeError("a callback of a call cannot wait for another call: use the async functions")
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
