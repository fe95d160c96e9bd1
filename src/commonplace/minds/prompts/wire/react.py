"""The reaction, alone or with ratings, words and action in the same answer."""

from __future__ import annotations

from typing import Any

from commonplace.minds.notes import Person
from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.act import action_read, action_schema, action_written
from commonplace.minds.prompts.wire.choices import Choices, people, reachable
from commonplace.minds.prompts.wire.citing import ids_of
from commonplace.minds.prompts.wire.fields import Fields, listed, present
from commonplace.minds.prompts.wire.form import Form
from commonplace.minds.prompts.wire.rate import ratings_read, ratings_schema, ratings_written
from commonplace.minds.prompts.wire.shapes import FLAG, TIME, Schema, maybe, obj, one_of, some_of, text, whole
from commonplace.minds.tasks import ReactInput, ReactOutput, Stroke

DECISIONS = ("keep", "talk", "go", "help", "avoid", "wait")
PURPOSES = ("greet", "tell", "ask", "reply", "invite", "thank", "comfort", "apologise", "farewell")
LONGEST_REASON = 300


def offered(given: ReactInput) -> tuple[int, ...]:
    """Memory ids a reaction may cite."""
    return ids_of(given.recalled, given.news, (given.now, *given.later))


def destinations(given: ReactInput) -> Choices:
    """Where something new may be done."""
    return reachable(given.places, given.situation.place, (given.now, *given.later))


def _schema(given: ReactInput) -> Schema:
    here, cited = given.situation, offered(given)
    properties: dict[str, Schema] = {}
    if given.unrated:
        properties["rate"] = ratings_schema(len(given.unrated))
    properties |= {
        "because": some_of(cited),
        "reason": text(LONGEST_REASON),
        "decision": one_of(DECISIONS),
        "target": one_of(("", *people(here.people).labels)),
    }
    properties |= {"talk": maybe(_talk_schema(given))} if given.speaks else {"purpose": one_of(("", *PURPOSES))}
    properties["plan"] = maybe(_stroke_schema(given))
    if given.targets is not None:
        properties["act"] = action_schema(given.targets, given.places, here.things, here.people, cited)
    return obj(**properties)


def _talk_schema(given: ReactInput) -> Schema:
    facts = some_of([fact.id for fact in given.facts])
    return obj(purpose=one_of(PURPOSES), say=text(400), ends=FLAG, facts=facts)


def _stroke_schema(given: ReactInput) -> Schema:
    return obj(
        start=TIME,
        minutes=whole(5, 1440),
        place=one_of(destinations(given).labels),
        do=text(120, 1),
        emoji=text(16),
    )


def _read(given: ReactInput, fields: Fields, ear: Ear) -> ReactOutput:
    cited = offered(given)
    decision = fields.choice("decision", DECISIONS)
    stroke = fields.inner("plan")
    act = fields.inner("act") if given.targets is not None else None
    here, names = given.situation, (given.who.called, given.who.name)
    because = fields.ids("because", cited)
    said = _said(given, fields, ear) if decision == "talk" else {}
    return ReactOutput.model_validate(
        {
            "decision": decision,
            "target": _target(fields, decision, here.people),
            "stroke": _stroke(given, stroke, because, ear) if stroke else None,
            "reason": ear.text(fields.words("reason", LONGEST_REASON)),
            "because": because,
            "ratings": ratings_read(fields, "rate", len(given.unrated)) if given.unrated else (),
            "act": action_read(act, given.targets, given.places, here.things, here.people, cited, ear, names)
            if act and given.targets
            else None,
        }
        | said
    )


def _target(fields: Fields, decision: str, seen: tuple[Person, ...]) -> str:
    """Somebody in sight; needed to talk."""
    if decision == "talk":
        return fields.offered("target", people(seen))
    return fields.chosen("target", people(seen)) or ""


def _said(given: ReactInput, fields: Fields, ear: Ear) -> dict[str, Any]:
    """What is to be said, and why."""
    if not given.speaks:
        return {"purpose": fields.words("purpose", 40)}
    talk = fields.inner("talk")
    if talk is None:
        return {}
    return {
        "purpose": talk.words("purpose", 40),
        "utterance": ear.line(talk.words("say", 2000), (given.who.called, given.who.name)),
        "ends": talk.flag("ends"),
        "facts": tuple(fact.id for fact in given.facts if fact.id in talk.items("facts")),
        "speech_act": talk.words("speech_act", 20),
        "topic": talk.words("topic", 60),
    }


def _stroke(given: ReactInput, fields: Fields, because: tuple[int, ...], ear: Ear) -> Stroke:
    """It rests on what the reaction rests on, unless it says otherwise."""
    return Stroke(
        start=fields.time("start"),
        minutes=fields.whole("minutes", 5, 1440),
        location=fields.offered("place", destinations(given)),
        do=ear.text(fields.needed("do", 120)),
        because=fields.ids("because", offered(given)) if fields.get("because") is not None else because,
        emoji=fields.emoji("emoji"),
    )


def _written(given: ReactInput, value: ReactOutput) -> dict[str, Any]:
    here = given.situation
    data: dict[str, Any] = {"rate": ratings_written(value.ratings)} if given.unrated else {}
    data |= {
        "because": listed(value.because),
        "reason": value.reason,
        "decision": value.decision,
        "target": people(here.people).label(value.target),
    }
    if given.speaks:
        data["talk"] = _talk_written(value)
    else:
        data["purpose"] = value.purpose
    data["plan"] = _stroke_written(given, value.stroke, value.because) if value.stroke else None
    if value.act is not None and given.targets is not None:
        data["act"] = action_written(value.act, given.targets, given.places, here.things, here.people)
    return data


def _talk_written(value: ReactOutput) -> dict[str, Any] | None:
    if value.decision != "talk":
        return None
    return {
        "purpose": value.purpose,
        "say": value.utterance,
        "ends": value.ends,
        "facts": listed(value.facts),
        **present(speech_act=value.speech_act, topic=value.topic),
    }


def _stroke_written(given: ReactInput, stroke: Stroke, because: tuple[int, ...]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "start": stroke.start,
        "minutes": stroke.minutes,
        "place": destinations(given).label(stroke.location),
        "do": stroke.do,
        "emoji": stroke.emoji,
    }
    return data if stroke.because == because else data | {"because": listed(stroke.because)}


REACT = Form(_schema, _read, _written)
