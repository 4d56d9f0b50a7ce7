"""This machine: its cores and its memory, or what a container has of them."""

from __future__ import annotations

import os
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


def cores_here() -> int:
    """Return the number of cores, at least one."""
    return os.cpu_count() or 1


def memory_here() -> int:
    """Return the bytes of memory that this process may use; 0 if the system does not say."""
    if not hasattr(os, "sysconf"):
        return 0
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([whole, *_container_limits()])


def _container_limits() -> list[int]:
    """Return the limits of our control group and those above it (cgroup v2), where there are any."""
    try:
        own = next(line[3:] for line in OWN_CGROUP.read_text().splitlines() if line.startswith("0::"))
    except (OSError, StopIteration):
        return []
    folder = CGROUPS / own.strip("/")
    return [
        int(text)
        for place in (folder, *folder.parents)
        if place.is_relative_to(CGROUPS) and (text := _read(place / "memory.max")).isdecimal()
    ]


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
