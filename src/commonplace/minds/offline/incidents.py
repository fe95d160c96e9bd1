"""Cases of `react`: an event, somebody in distress, rain, a thing that does not work."""

from __future__ import annotations

from commonplace import rng
from commonplace.clock import parse_iso
from commonplace.minds.notes import News, Person
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import Grammar, grammar, reason
from commonplace.minds.offline.perceive_event import event_kind, named_place
from commonplace.minds.offline.scene import COLD
from commonplace.minds.offline.temper import temper
from commonplace.minds.tasks import ReactInput, ReactOutput, Stroke
from commonplace.world.happenings import Befell, Sky

TROUBLES = frozenset({"worry", "concern", "loss"})
"""Sorts of occasions with which somebody may need help."""
WET = frozenset({"rain", "storm", "snow"})


def event(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Go and help, look, keep away or make the best of it, by temper; only for those whom the event concerns."""
    news = next((one for one in given.news if one.kind == "event"), None)
    if news is None or (given.now is not None and given.now.asleep and not _wakes(given, news)):
        return None
    if news.facts:
        return None
    rules = grammar(given.who.language)
    kind = event_kind(rules, news.text)
    manner = _manner(given, rules, news)
    order = _order(given, dice)
    hearer, concerned = _hearer(given, order), _concerns(given, news, manner, dice)
    if hearer is None and not concerned:
        if not _is_spoken_to(given, order):
            return None
        return ReactOutput(decision="keep", reason=reason(given.who.language, "event.listen"), because=_ids(news))
    if kind == "dark" and manner in {"plain", "cautious"} and _may_leave(given) and dice.chance(50, "leave"):
        manner = "leave"
    do = rules.say(f"event.{kind}.{manner}", {}, dice)
    minutes = 15 + 5 * dice.below(6, "event")
    stroke = _now(given, do, _where(given, news, manner), minutes, _ids(news), "👀")
    named = rules.language.with_article(news.happening.topic) or rules.language.noun_phrase(news.text)
    named = rules.first("the_dark", {}) if kind == "dark" else named
    why = reason(given.who.language, f"happening.{manner}", what=named or rules.first("what_happened", {}))
    if hearer is not None:
        if not concerned:
            called = next(one.called for one in given.situation.people if one.id == hearer)
            why = reason(given.who.language, "remark", x=called)
        return ReactOutput(
            decision="talk", target=hearer, purpose="tell", stroke=stroke if concerned else None, reason=why,
            because=_ids(news),
        )  # fmt: skip
    return ReactOutput(decision="help" if manner == "helpful" else "go", stroke=stroke, reason=why, because=_ids(news))


def _order(given: ReactInput, dice: Dice) -> list[str]:
    """Those awake here, me included, in an order that all of them draw alike: each second one is told by the one before
    what both have just noticed.
    """
    here = [given.who.id, *(one.id for one in given.situation.people if one.can_be_spoken_to and not one.asleep)]
    return rng.shuffled(sorted(here), dice.key[0], "remark", given.situation.place.id, given.situation.moment)


def _hearer(given: ReactInput, order: list[str]) -> str | None:
    """Whom I say a word to about what has just happened: who spoke to me last, else the next in the order."""
    if given.lines:
        return given.lines[-1].speaker if given.floor else None
    place = order.index(given.who.id)
    other = order[place + 1] if place % 2 == 0 and place + 1 < len(order) else ""
    warmth = next((one.warmth for one in given.situation.people if one.id == other), COLD - 1)
    return other if warmth >= COLD else None


def _is_spoken_to(given: ReactInput, order: list[str]) -> bool:
    return not given.lines and order.index(given.who.id) % 2 == 1


FEW = 5
"""People in one place of whom an event there concerns everybody; of a crowd, so many on average."""
HELPING = frozenset({"helpful", "handy", "brave", "cook"})
"""Manners of those who are able to do something about an event."""


def _concerns(given: ReactInput, news: News, manner: str, dice: Dice) -> bool:
    """Whether an event concerns the character: it is named, lives or works there, or is near and one of a few.

    Of a crowd those who are able to help come first. Elsewhere it is something to talk about.
    """
    if _wakes(given, news):
        return True
    places = set(news.happening.areas.split()) if isinstance(news.happening, Befell) else set[str]()
    named = named_place(given.places, news.text)
    places |= {named.id} if named else set()
    here = given.situation.place.id
    if places & {given.who.home, given.now.location if given.now else ""} and not _is_guest(given, places):
        return True
    if places and here not in places:
        return False
    crowd = 1 + sum(1 for person in given.situation.people if not person.asleep)
    share = FEW * (200 if manner in HELPING else 50) // crowd
    return crowd <= FEW or dice.steady().chance(min(100, share), "concern", news.text)


def _is_guest(given: ReactInput, places: set[str]) -> bool:
    """Whether the plan has the character at the place, not at home, only to eat, rest or meet somebody."""
    now = given.now
    if now is None or now.location not in places or now.location == given.who.home:
        return False
    return not grammar(given.who.language).has("kind.work", now.do)


def _where(given: ReactInput, news: News, manner: str) -> str:
    """Where to respond to an event: at the place it names to deal with it, at home to get away, else here."""
    if manner == "leave":
        return given.who.home
    place = named_place(given.places, news.text) if manner in {"brave", "helpful", "handy", "cook"} else None
    return place.id if place else given.situation.place.id


def _wakes(given: ReactInput, news: News) -> bool:
    return given.who.called in news.text or given.who.name in news.text


def _may_leave(given: ReactInput) -> bool:
    """Whether the character is only a guest here, not at home or at work."""
    place = given.situation.place
    return place.id != given.who.home and given.who.called not in place.name and not place.outdoor


def _sort(news: News) -> str:
    """What its author calls an event; without an author's word it is a worry."""
    return (news.happening.sort if isinstance(news.happening, Befell) else "") or "worry"


def _manner(given: ReactInput, rules: Grammar, news: News) -> str:
    """How a character of this temper reacts to such an event. Nobody needs help with what an author calls a joke."""
    mood = temper(given.who)
    kind = event_kind(rules, news.text)
    if kind == "other" and _sort(news) not in TROUBLES:
        return "brave" if mood.brave > 0 else "plain"
    if mood.cook and kind == "dark":
        return "cook"
    if mood.handy and kind in {"dark", "water", "loud", "wonder"}:
        return "handy"
    if mood.helpful and kind in {"dark", "fire", "cry", "water", "loud", "other"}:
        return "helpful"
    if mood.brave > 0:
        return "brave"
    return "cautious" if mood.brave < 0 else "plain"


def distress(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Help somebody seen in distress, if the character is kind enough or close to them."""
    rules = grammar(given.who.language)
    for news in given.news:
        if news.kind not in {"did", "doing"} or not news.who or not rules.has("distress", news.text):
            continue
        person = next((one for one in given.situation.people if one.id == news.who), None)
        if person is None or person.warmth + 25 * temper(given.who).helpful < 10:
            continue
        do = rules.say("help.do", {"x": person.called}, dice)
        stroke = _now(given, do, given.situation.place.id, 15 + 5 * dice.below(3, "help"), _ids(news), "🤗")
        return ReactOutput(
            decision="help", target=person.id, purpose="comfort", stroke=stroke,
            reason=reason(given.who.language, "distress", x=person.called), because=_ids(news),
        )  # fmt: skip
    return None


def weather(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Go indoors when it begins to rain on an outdoor activity."""
    news = next((one for one in given.news if one.kind == "weather"), None)
    sky = given.situation.sky
    if (
        news is None
        or sky not in WET
        or given.now is None
        or (isinstance(news.happening, Sky) and news.happening.old in WET)
    ):
        return None
    if not (given.situation.place.outdoor or given.now.outdoor):
        return None
    if temper(given.who).brave > 1 and sky == "rain" and dice.chance(30, "wet"):
        return ReactOutput(decision="keep", reason=reason(given.who.language, "rain.keep"), because=_ids(news))
    if _is_expected(given):
        return ReactOutput(decision="keep", reason=reason(given.who.language, "rain.promised"), because=_ids(news))
    rules = grammar(given.who.language)
    if _sheltered_today(given, rules):
        return ReactOutput(decision="keep", reason=reason(given.who.language, "rain.again"), because=_ids(news))
    shelter = _shelter(given, dice)
    named = {"sky": rules.first(f"sky.{sky}", {})}
    do = rules.say("rain.home" if shelter == given.who.home else "rain.out", named, dice)
    minutes = 30 + 5 * dice.below(7, "rain")
    stroke = _now(given, do, shelter, minutes, _ids(news), "☔")
    why = reason(given.who.language, "rain.go", **named)
    return ReactOutput(decision="go", stroke=stroke, reason=why, because=_ids(news))


def _is_expected(given: ReactInput) -> bool:
    """Whether the character does what it has promised somebody."""
    because = given.now.because if given.now else ()
    return any(goal.kind == "promise" and not set(goal.because).isdisjoint(because) for goal in given.goals)


def _sheltered_today(given: ReactInput, rules: Grammar) -> bool:
    """Whether the character has waited for rain to pass today: it does so once a day."""
    said = {
        line.replace("{sky}", rules.first(f"sky.{sky}", {})).lower()
        for rule in ("rain.home", "rain.out")
        for line in rules.every(rule)
        for sky in WET
    }
    today = parse_iso(given.situation.moment)
    minutes = today.hour * 60 + today.minute
    return any(
        note.kind == "did" and note.minutes_ago <= minutes and (note.named or note.topic).lower() in said
        for note in given.past.notes
    )


def _shelter(given: ReactInput, dice: Dice) -> str:
    """Where to wait for the rain to pass: here if it is dry, else home or a remembered place."""
    if not given.situation.place.outdoor:
        return given.situation.place.id
    seen = {memory.happening.place_name for memory in given.recalled} - {""}
    dry = [
        spot.id for spot in given.places
        if not spot.outdoor and spot.id != given.situation.place.id and (spot.name in seen or spot.id == given.who.home)
    ]  # fmt: skip
    return dice.choice([*dry, given.who.home], "shelter")


def failure(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """A thing refused or missing: ask somebody here about it, else go on with something else."""
    news = next((one for one in given.news if one.kind in {"outcome", "absent"}), None)
    if news is None:
        return None
    near = [
        one for one in given.situation.people
        if one.can_be_spoken_to and one.talk != "other" and one.warmth >= 0 and not one.asleep
    ]  # fmt: skip
    name = news.happening.object_name
    if near and name and _may_ask(given, near) and dice.chance(40 + 10 * temper(given.who).sociable, "ask"):
        person = max(near, key=lambda one: (one.warmth, one.id))
        if person.minutes_since_talk < 0 or person.minutes_since_talk > 30:
            return ReactOutput(
                decision="talk", target=person.id, purpose="ask", because=_ids(news),
                reason=reason(given.who.language, "failure.ask", x=person.called, thing=name),
            )  # fmt: skip
    return ReactOutput(decision="keep", reason=reason(given.who.language, "failure"), because=_ids(news))


def _may_ask(given: ReactInput, near: list[Person]) -> bool:
    return bool(near) and not given.lines


def _now(given: ReactInput, do: str, place: str, minutes: int, because: tuple[int, ...], emoji: str) -> Stroke:
    do = do or grammar(given.who.language).first("event.other.look", {})
    return Stroke(start=given.situation.time, minutes=minutes, location=place, do=do, because=because, emoji=emoji)


def _ids(news: News) -> tuple[int, ...]:
    return (news.memory_id,) if news.memory_id else ()
