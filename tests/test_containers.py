"""The container files name what there is, run without rights, and hold no secret."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from commonplace.cli import app
from commonplace.parts.web.guard import HEALTH

PROJECT = Path(__file__).parents[1]
DOCKERFILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
TEXT = (PROJECT / "compose.yaml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
GROUP: Any = typer.main.get_command(app)


def words_of(line: str) -> list[str]:
    """The words of the last line of the Dockerfile that begins so."""
    return json.loads(re.findall(rf"^{line} (\[.*\])$", DOCKERFILE, re.MULTILINE)[-1])


@pytest.mark.parametrize("words", [words_of("CMD"), shlex.split(SERVICES["town"]["command"])], ids=["image", "compose"])
def test_what_is_started_is_a_command_with_options_that_exist(words: list[str]) -> None:
    *general, form, name = words[:3]
    assert (general, form, name) == (["--log-format"], "json", "serve")
    given = GROUP.get_command(None, name).make_context(name, words[3:]).params
    assert given["host"] == "0.0.0.0" and given["port"] == 8000
    assert "EXPOSE 8000" in DOCKERFILE


def test_the_image_runs_without_rights_and_is_asked_for_its_health() -> None:
    *_, last = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)
    assert re.findall(r"^USER (\w+)$", last, re.MULTILINE) == ["town"]
    check = re.search(r"^HEALTHCHECK .*CMD (\[.*\])$", last, re.MULTILINE)
    assert check is not None
    program = json.loads(check[1])[2]
    compile(program, "healthcheck", "exec")
    assert f"http://127.0.0.1:8000{HEALTH}" in program


def test_every_name_in_the_services_is_defined() -> None:
    volumes = {mount.split(":")[0] for one in SERVICES.values() for mount in one.get("volumes", ())}
    assert volumes == COMPOSE["volumes"].keys()
    secrets = {name for one in SERVICES.values() for name in one.get("secrets", ())}
    assert secrets == COMPOSE["secrets"].keys()
    for one in SERVICES.values():
        assert set(one.get("depends_on", ())) <= SERVICES.keys()
    mounted = set(re.findall(r"/run/secrets/(\w+)", TEXT))
    assert mounted == secrets


def test_no_secret_is_written_down() -> None:
    for one in SERVICES.values():
        for name, value in one.get("environment", {}).items():
            if re.search(r"TOKEN|PASSWORD|KEY", name):
                assert str(value).startswith(("${", "/run/secrets/")), name
    assert set(COMPOSE["secrets"]) and all(one.keys() == {"environment"} for one in COMPOSE["secrets"].values())
    for file in (".dockerignore", ".gitignore"):
        assert ".env" in (PROJECT / file).read_text(encoding="utf-8").splitlines(), file


def test_only_this_machine_reaches_what_is_published() -> None:
    for one in SERVICES.values():
        assert all(port.startswith("127.0.0.1:") for port in one.get("ports", ()))


def test_the_extras_of_the_images_exist() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.search(r"^ARG EXTRAS=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert named is not None
    assert set(named[1].split(",")) <= project["optional-dependencies"].keys()
