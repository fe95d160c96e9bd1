from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "world.md"


def test_the_programs_of_the_page_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 4
    exec(compile("\n".join(blocks), str(PAGE), "exec"), {})  # noqa: S102 - the page is ours
