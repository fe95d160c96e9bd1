"""The people `new` fills a scenario with: names, and ways to spend a day. Data only, meant to be overwritten."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = (
    "Ada Moreau", "Ben Okoro", "Clara Lindqvist", "Dario Ruiz", "Elif Kaya", "Finn Gallagher", "Greta Novak",
    "Hugo Pereira", "Iris Tanaka", "Jonas Weber", "Kira Petrova", "Leo Marchetti", "Maya Sharma", "Nils Berg",
    "Olga Ivanova", "Pablo Santos", "Quinn Murphy", "Rosa Alvarez", "Samir Haddad", "Tara Singh", "Ugo Bianchi",
    "Vera Kowalski", "Walter Braun", "Xenia Popov", "Yusuf Demir", "Zoe Laurent", "Anton Falk", "Bianca Conti",
    "Cyrus Farahani", "Dora Nagy", "Emil Hansen", "Fatima Rahman", "Gael Dubois", "Hana Suzuki", "Ivo Horvat",
    "Jada Brooks", "Karim Nasser", "Lina Costa", "Marek Dvorak", "Nora Quist", "Otis Reed", "Petra Vogel",
    "Rafael Lima", "Selma Aydin", "Tomas Silva", "Una Byrne", "Victor Chen", "Wilma Jansen", "Yara Mansour",
    "Zeno Rossi",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Life:
    """A trade with a day around it. `place` is where the work is done: `cafe`, `square` or `home`."""

    work: str
    traits: str
    background: str
    goal: str
    place: str
    morning: str
    afternoon: str
    memory: str
    """What happened lately, after the name: `found an old map in the attic`."""
    tell: str


LIVES = (
    Life(
        "café keeper", "warm, talkative", "runs the café on the square and knows how everybody takes their coffee",
        "try out a new cake every week", "cafe", "serving breakfast", "baking for tomorrow",
        "burned a whole tray of cakes yesterday",
        "I burned a whole tray of cakes yesterday. The pigeons were delighted.",
    ),
    Life(
        "gardener", "calm, observant", "looks after the trees and flower beds of the square",
        "save the old elm", "square", "watering the flower beds", "pruning the roses",
        "saw a heron drink from the fountain",
        "A heron drank from our fountain this week. I stood still for ten minutes.",
    ),
    Life(
        "writer", "curious, absent-minded", "writes detective stories and listens to the next table for dialogue",
        "finish the last chapter", "cafe", "writing at a corner table", "rewriting the same page",
        "cannot decide who did it in the new book", "I'm at the last chapter and I still don't know who did it.",
    ),
    Life(
        "clock mender", "patient, precise", "mends clocks at home and is never late",
        "find a spare part for an old cuckoo clock", "home", "mending a cuckoo clock", "polishing tiny wheels",
        "found a love letter inside a clock", "I found a love letter inside a clock I'm mending. I put it back unread.",
    ),
    Life(
        "street musician", "cheerful, restless", "plays the accordion on the square when the sun is out",
        "write a waltz that people whistle", "square", "playing the accordion", "trying out a new waltz",
        "was paid with a button and kept it", "Somebody paid me with a button, and I'm wearing it now.",
    ),
    Life(
        "retired teacher", "kind, strict", "taught half of the town to read and still corrects the menus",
        "learn the names of all birds here", "square", "feeding the sparrows", "reading on the bench",
        "met a pupil from forty years ago", "I met a pupil from forty years ago. He still holds his pen wrongly.",
    ),
    Life(
        "translator", "quiet, witty", "translates instruction leaflets at home and novels in secret",
        "find a publisher", "home", "translating a leaflet", "translating a novel",
        "looked for a single word for three days",
        "I've been looking for one word for three days. It exists, I can feel it.",
    ),
)  # fmt: skip
