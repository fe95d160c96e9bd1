"""Two people, a small town and memories of every kind, to talk over in tests."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from commonplace.minds.notes import FactNote, Item, News, Person, Recalled, Situation, Spoken, Spot, Who, from_data
from commonplace.minds.tasks import ConverseInput, ReactInput

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
    number: int, text: str, ago: int = 90, *, importance: int = 3, kind: str = "observation", **more: object
) -> Recalled:
    """A recalled memory; `frame`, `tell` and `facts` as keywords."""
    given = {"id": number, "text": text, "kind": kind, "importance": importance, "minutes_ago": ago, **more}
    return from_data(Recalled, given)


def said(
    number: int, quote: str, ago: int = 0, *, who: str = "jun", to_me: bool = True, facts: tuple[str, ...] = ()
) -> Recalled:
    """Somebody's line as remembered."""
    name, called = {"jun": ("Jun Park", "Jun"), "kit": ("Kit Vale", "Kit")}[who]
    frame = {
        "what": "said", "who": who, "called": called, "to": "mira" if to_me else "odalys",
        "to_called": "Mira" if to_me else "Odalys", "quote": quote, "to_me": "1" if to_me else "",
        "place_name": "Mira's Noodle Bar",
    }  # fmt: skip
    return memory(number, f"{name} says to Mira Sato: “{quote}”", ago, frame=frame, facts=facts)


def doing(
    number: int, who: str, what: str, ago: int = 90, *, place: str = "Jun's Workshop", pronoun: str = ""
) -> Recalled:
    """Somebody seen at something."""
    name, called = {"jun": ("Jun Park", "Jun"), "kit": ("Kit Vale", "Kit")}[who]
    frame = {"what": "doing", "who": who, "called": called, "doing": what, "place": "workshop", "place_name": place}
    return memory(number, f"{name} is {what}.", ago, frame=frame | ({"pronoun": pronoun} if pronoun else {}))


def _framed(number: int, ago: int, words: str, /, **frame: str) -> Recalled:
    return memory(number, words, ago, frame=frame)


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
def memories(draw: st.DrawFn, number: int) -> Recalled:  # noqa: PLR0911, PLR0912 – a branch per kind of memory
    """One memory of any kind."""
    ago = draw(st.integers(0, 4000))
    kind = draw(st.integers(0, 13))
    who = draw(st.sampled_from(("jun", "kit")))
    place = draw(st.sampled_from([spot.name for spot in PLACES]))
    thing, state, words = draw(st.sampled_from(THINGS))
    act = draw(st.sampled_from(DOINGS))
    match kind:
        case 0:
            return doing(number, who, act, ago, place=place, pronoun=draw(st.sampled_from(("", "he", "she"))))
        case 1:
            return said(number, draw(st.sampled_from(QUOTES)), ago, who=who, to_me=draw(st.booleans()))
        case 2:
            return _framed(number, ago, f"Mira Sato was {act}.", what="did", doing=act, place_name=place)
        case 3:
            return _framed(
                number, ago, f"The {thing} {words}.", what="thing", object=thing, object_name=thing, state=state,
                words=words, place_name=place,
            )  # fmt: skip
        case 4:
            return _framed(
                number,
                ago,
                f"The {thing} is not here.",
                what="absent",
                object=thing,
                object_name=thing,
                place_name=place,
            )
        case 5:
            return _framed(
                number, ago, f"Mira Sato tried to use the {thing}, but it {words}.", what="refused", object=thing,
                object_name=thing, verb="USE", why=f"The {thing} {words}.",
            )  # fmt: skip
        case 6:
            text = draw(
                st.sampled_from(("The power goes out in the noodle bar.", "A drone crashes into a crate of figs."))
            )
            return _framed(number, ago, text, what="event", text=text)
        case 7:
            return _framed(number, ago, "It begins to rain.", what="weather", sky="rain", old="clear")
        case 8:
            return _framed(
                number, ago, "Mira plans.", what="plan", start=draw(st.sampled_from(("07:00", "17:00", "19:05"))),
                place="canal", place_name="Canal Walk", do=act,
            )  # fmt: skip
        case 9:
            text = draw(
                st.sampled_from(("Talking with Kit does me good.", "Wet weather and the kettle don't go together."))
            )
            return _framed(number, ago, text, what="insight", about="kit")
        case 10:
            return _framed(
                number,
                ago,
                "Jun is a riddle.",
                what="insight",
                about="jun",
                you="There's more to you than one sees in passing.",
            )
        case 11:
            return memory(number, FESTIVAL.text, ago, frame={"what": "seed", "topic": "festival"}, facts=(FESTIVAL.id,))
        case 12:
            quote = FESTIVAL.tell[0]
            return said(number, quote, ago, who=who, facts=(FESTIVAL.id,))
        case _:
            tell = draw(st.sampled_from(TELLS))
            frame = {"what": "seed", "topic": draw(st.sampled_from(("broth", "landlord"))), "about": ""}
            return memory(number, f"Seed {tell}", ago, frame=frame, tell=(tell,))


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
        Item(
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
        now=Item(
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
        "now": Item(
            start="09:00", minutes=120, location="bar", location_name="Mira's Noodle Bar", do="skimming the broth"
        ),
        "places": PLACES,
    }
    return ReactInput(**(given | more))  # type: ignore[arg-type]


def news(kind: str, text: str, number: int = 50, frame: Mapping[str, str] | None = None, **more: object) -> News:
    """Something new."""
    return from_data(News, {"memory_id": number, "kind": kind, "text": text, "frame": dict(frame or {}), **more})
