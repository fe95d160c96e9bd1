"""Two people, a small town and memories of every kind, to talk over in tests."""

from __future__ import annotations

from hypothesis import strategies as st

from commonplace.minds.notes import FactNote, ItemNote, News, NewsKind, Person, Recalled, Situation, Spoken, Spot, Who
from commonplace.minds.tasks import ConverseInput, ReactInput
from commonplace.world.happenings import (
    NOTHING_KNOWN,
    Absent,
    Befell,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    Planned,
    Said,
    Seed,
    Seen,
    Sky,
)

PLACES = (
    Spot(id="bar", name="Mira's Noodle Bar"),
    Spot(id="workshop", name="Jun's Workshop"),
    Spot(id="plaza", name="Lattice Plaza", outdoor=True),
    Spot(id="canal", name="Canal Walk", outdoor=True),
    Spot(id="loft", name="Mira's Loft"),
)
FESTIVAL = FactNote(
    id="lantern_festival",
    text="There is a lantern festival at the plaza tonight at seven.",
    tell=(
        "There's a lantern festival at the plaza tonight, at seven.",
        "Seven o'clock, the plaza, the lantern festival.",
    ),
    place="plaza",
    place_name="Lattice Plaza",
    starts="2031-10-04T19:00:00",
    minutes=120,
)
VOICES = {
    "warm": ("kind", "friendly"),
    "dry": ("dry", "witty"),
    "brisk": ("brisk", "practical"),
    "shy": ("shy", "quiet"),
    "dreamy": ("dreamy", "curious"),
    "formal": ("formal", "polite"),
}


def mira(*traits: str, pronoun: str = "she") -> Who:
    """The one who speaks."""
    return Who(
        id="mira", name="Mira Sato", called="Mira", age=36, pronoun=pronoun, work="noodle cook",
        traits=traits or ("kind",),
        background="Runs the noodle bar.", goals=("find the missing taste",), home="loft",
    )  # fmt: skip


def jun(warmth: int = 40, *, since: int = -1, talks: int = 1, pronoun: str = "he") -> Person:
    """The one who listens."""
    return Person(
        id="jun", name="Jun Park", called="Jun", work="repairer", pronoun=pronoun, label="neighbour", warmth=warmth,
        talks=talks, minutes_since_talk=since, doing="repairing a drone", can_be_spoken_to=True,
    )  # fmt: skip


def here(
    time: str = "10:00", *, sky: str = "clear", place: Spot = PLACES[0], people: tuple[Person, ...] = ()
) -> Situation:
    """Now."""
    hour = int(time[:2])
    part = "morning" if hour < 12 else "afternoon" if hour < 17 else "evening" if hour < 22 else "night"
    return Situation(
        moment=f"2031-10-04T{time}:00", time=time, day=0, weekday="Saturday", part_of_day=part, sky=sky, wind="calm",
        temperature="mild", place=place, people=people or (jun(),),
    )  # fmt: skip


def memory(
    number: int, text: str, ago: int = 90, *, importance: int = 3, kind: str = "observation",
    happening: Happening = NOTHING_KNOWN, tell: tuple[str, ...] = (), facts: tuple[str, ...] = (),
) -> Recalled:  # fmt: skip
    """A recalled memory."""
    return Recalled(
        id=number, text=text, kind=kind, importance=importance, minutes_ago=ago, happening=happening, tell=tell,
        facts=facts,
    )  # fmt: skip


NAMES = {"jun": ("Jun Park", "Jun"), "kit": ("Kit Vale", "Kit")}


def said(
    number: int, quote: str, ago: int = 0, *, who: str = "jun", to_me: bool = True, facts: tuple[str, ...] = ()
) -> Recalled:
    """Somebody's line as remembered."""
    name, called = NAMES[who]
    to, to_called = ("mira", "Mira") if to_me else ("odalys", "Odalys")
    happening = Said(
        who=who, called=called, to=to, to_called=to_called, quote=quote, to_me="1" if to_me else "",
        place_name="Mira's Noodle Bar",
    )  # fmt: skip
    return memory(number, f"{name} says to Mira Sato: “{quote}”", ago, happening=happening, facts=facts)


def doing(
    number: int, who: str, what: str, ago: int = 90, *, place: str = "Jun's Workshop", pronoun: str = ""
) -> Recalled:
    """Somebody seen at something."""
    name, called = NAMES[who]
    seen = Seen(who=who, called=called, doing=what, place="workshop", place_name=place, pronoun=pronoun)
    return memory(number, f"{name} is {what}.", ago, happening=seen)


DOINGS = (
    "repairing a drone", "skimming the broth", "looking for his keys", "watering the tomatoes", "reading",
    "winding a clock that belongs to nobody", "arguing with the kettle", "counting umbrellas", "sleeping",
)  # fmt: skip
QUOTES = (
    "My rotor is bent again.", "I'm going to fix the old ferry one day.", "I need a battery.",
    "The flood took my books.",
    "I've never seen such a sunset.", "Good morning, Mira.", "How are you?", "Thanks for the soup.",
    "You should come by the workshop.", "Ilse keeps bees on the roof, did you know?", "I'm tired of the rain.",
)  # fmt: skip
TELLS = (
    "My grandmother's broth had one taste mine hasn't.", "I owe Jun for the pot. He won't name a price.",
    "There's a letter behind my chilli jar.", "The cat had two breakfasts today.",
)  # fmt: skip
THINGS = (
    ("kettle", "broken", "is broken"),
    ("neon sign", "dark", "is dark"),
    ("drinks machine", "jammed", "is jammed"),
)


@st.composite
def memories(draw: st.DrawFn, number: int) -> Recalled:  # noqa: PLR0912 – a branch per kind of memory
    """One memory of any kind."""
    ago = draw(st.integers(0, 4000))
    kind = draw(st.integers(0, 13))
    who = draw(st.sampled_from(("jun", "kit")))
    place = draw(st.sampled_from([spot.name for spot in PLACES]))
    thing, state, words = draw(st.sampled_from(THINGS))
    act = draw(st.sampled_from(DOINGS))
    tell: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    match kind:
        case 0:
            return doing(number, who, act, ago, place=place, pronoun=draw(st.sampled_from(("", "he", "she"))))
        case 1:
            return said(number, draw(st.sampled_from(QUOTES)), ago, who=who, to_me=draw(st.booleans()))
        case 2:
            text, happening = f"Mira Sato was {act}.", Did(doing=act, place_name=place)
        case 3:
            text = f"The {thing} {words}."
            happening = Changed(object=thing, object_name=thing, state=state, words=words, place_name=place)
        case 4:
            text, happening = f"The {thing} is not here.", Absent(object=thing, object_name=thing, place_name=place)
        case 5:
            text = f"Mira Sato tried to use the {thing}, but it {words}."
            happening = Failed(object=thing, object_name=thing, verb="USE", why=f"The {thing} {words}.")
        case 6:
            text = draw(
                st.sampled_from(("The power goes out in the noodle bar.", "A drone crashes into a crate of figs."))
            )
            happening = Befell(text=text)
        case 7:
            text, happening = "It begins to rain.", Sky(sky="rain", old="clear")
        case 8:
            text, start = "Mira plans.", draw(st.sampled_from(("07:00", "17:00", "19:05")))
            happening = Planned(start=start, place="canal", place_name="Canal Walk", do=act)
        case 9:
            text = draw(
                st.sampled_from(("Talking with Kit does me good.", "Wet weather and the kettle don't go together."))
            )
            happening = Concluded(about="kit")
        case 10:
            text = "Jun is a riddle."
            happening = Concluded(about="jun", you="There's more to you than one sees in passing.")
        case 11:
            text, happening, facts = FESTIVAL.text, Seed(topic="festival"), (FESTIVAL.id,)
        case 12:
            return said(number, FESTIVAL.tell[0], ago, who=who, facts=(FESTIVAL.id,))
        case _:
            tell = (draw(st.sampled_from(TELLS)),)
            text, happening = f"Seed {tell[0]}", Seed(topic=draw(st.sampled_from(("broth", "landlord"))))
    return memory(number, text, ago, happening=happening, tell=tell, facts=facts)


@st.composite
def talks(draw: st.DrawFn) -> ConverseInput:
    """A moment of talk: opening, or after up to six lines of which the last is the hearer's."""
    recalled = [draw(memories(number)) for number in range(1, draw(st.integers(1, 9)))]
    lines: tuple[Spoken, ...] = ()
    if draw(st.booleans()):
        count = draw(st.integers(1, 6))
        texts = [
            draw(st.sampled_from((*QUOTES, *FESTIVAL.tell, "See you, Mira.", "Are you coming?"))) for _ in range(count)
        ]
        lines = tuple(
            Spoken(speaker=("jun", "mira")[(count - index - 1) % 2], called="Jun", text=text)
            for index, text in enumerate(texts)
        )
        carried = (FESTIVAL.id,) if "lantern" in texts[-1] else ()
        recalled.append(said(90, texts[-1], facts=carried))
    voice = draw(st.sampled_from(sorted(VOICES)))
    warmth = draw(st.sampled_from((-40, 0, 25, 70)))
    person = jun(
        warmth, since=draw(st.sampled_from((-1, 120, 2000))), pronoun=draw(st.sampled_from(("he", "she", "they")))
    )
    later = (
        ItemNote(
            start="18:45",
            minutes=150,
            location="plaza",
            location_name="Lattice Plaza",
            do="going to the lantern festival",
        ),
    )
    return ConverseInput(
        who=mira(*VOICES[voice], pronoun=draw(st.sampled_from(("she", "he", "they")))),
        situation=here(
            draw(st.sampled_from(("07:10", "12:00", "16:20", "18:00", "23:10"))), sky="rain", people=(person,)
        ),
        hearer=person,
        purpose=draw(st.sampled_from(("greet", "tell", "ask", "reply", "invite", "comfort", "farewell"))),
        lines=lines,
        recalled=tuple(recalled),
        facts=(FESTIVAL,),
        said=tuple(line.text for line in lines if line.speaker == "mira"),
        told=(FESTIVAL.id,) if draw(st.booleans()) else (),
        now=ItemNote(
            start="06:00", minutes=200, location="bar", location_name="Mira's Noodle Bar", do="skimming the broth"
        ),
        later=later if draw(st.booleans()) else (),
    )


def reaction(
    *news: News, situation: Situation | None = None, traits: tuple[str, ...] = ("kind",), **more: object
) -> ReactInput:
    """A reaction's input; further fields as keywords."""
    given: dict[str, object] = {
        "who": mira(*traits),
        "situation": situation or here(),
        "news": news,
        "now": ItemNote(
            start="09:00", minutes=120, location="bar", location_name="Mira's Noodle Bar", do="skimming the broth"
        ),
        "places": PLACES,
    }
    return ReactInput(**(given | more))  # type: ignore[arg-type]


def news(
    kind: NewsKind, text: str, number: int = 50, happening: Happening = NOTHING_KNOWN, *, who: str = "",
    to_me: bool = False, importance: int = 3, facts: tuple[str, ...] = (),
) -> News:  # fmt: skip
    """Something new."""
    return News(
        memory_id=number, kind=kind, text=text, who=who, to_me=to_me, importance=importance, happening=happening,
        facts=facts,
    )  # fmt: skip
