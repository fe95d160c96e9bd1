"""How much tests try: a part of it in `make test`, all of it in `make prove`, which sets COMMONPLACE_PROVE."""

from __future__ import annotations

import os

from hypothesis import settings

PROVE = bool(os.environ.get("COMMONPLACE_PROVE"))
_SHARE = 1 if PROVE else 6


def examples(count: int) -> settings:
    """Settings of a property test that tries `count` examples in `make prove`.

    In `make test` it tries a sixth of them, at least ten if there are so many, and at most two hundred.
    """
    return settings(max_examples=count if PROVE else max(min(10, count), min(count // _SHARE, 200)))


# no deadline: how long an example takes depends on what else the machine does
settings.register_profile("commonplace", deadline=None, max_examples=100 // _SHARE)
settings.load_profile("commonplace")
