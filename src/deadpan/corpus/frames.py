"""Whether a .zst file is whole, from the sizes its frames and blocks state (RFC 8878), not unpacked."""

from __future__ import annotations

import os

_FRAME = b"\x28\xb5\x2f\xfd"
_SKIPPED = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5f
_NAME_SIZES, _LENGTH_SIZES = (0, 1, 2, 4), (0, 2, 4, 8)
_LAST, _REPEATED = 1, 1
_HOLE = 1_000  # empty blocks in a row that no packer writes: a download with zeros where parts are missing


def ends_early(descriptor: int) -> bool:
    """Whether more is announced than there is. What is no frame at all is left to the decoder."""
    size, at = os.fstat(descriptor).st_size, 0
    while at < size:
        head = os.pread(descriptor, 8, at)
        if len(head) < 8:
            return True
        if head[1:4] == _SKIPPED and head[0] >> 4 == 5:
            at += 8 + int.from_bytes(head[4:], "little")
        elif head[:4] == _FRAME:
            at = _end_of_frame(descriptor, at, head[4])
        else:
            return False
    return at > size


def _end_of_frame(descriptor: int, at: int, traits: int) -> int:
    """Where the frame that starts here ends, or would end."""
    alone = traits >> 5 & 1  # one segment: its length is stated in place of a window
    at += 5 + (1 - alone) + _NAME_SIZES[traits & 3] + (_LENGTH_SIZES[traits >> 6] or alone)
    empty = 0
    while True:
        head = os.pread(descriptor, 3, at)
        facts = int.from_bytes(head, "little")
        empty = 0 if facts else empty + 1
        if len(head) < 3 or empty > _HOLE:
            return os.fstat(descriptor).st_size + 1
        at += 3 + (1 if facts >> 1 & 3 == _REPEATED else facts >> 3)
        if facts & _LAST:
            return at + (4 if traits >> 2 & 1 else 0)  # a checksum
