"""What stands behind a line of a duet: the plan asked for by itself, and the reflection on the dialogue."""

from __future__ import annotations

from commonplace.josa import resolved
from commonplace.minds.notes import Situation, Spot
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.reflect import insights
from commonplace.minds.tasks import Evidence, InsightsInput
from commonplace.parts.duet.talk import duet_turn
from commonplace.parts.duet.tasks import DuetInput, DuetPlan, DuetReflectInput, DuetReflection

_STAGE = Situation(
    moment="2031-10-04T12:00:00", time="12:00", day=0, weekday="", part_of_day="midday", sky="", wind="",
    temperature="", place=Spot(id="stage", name="stage"),
)  # fmt: skip


def duet_plan(given: DuetInput, dice: Dice) -> DuetPlan:
    """The plan that goes with the line."""
    return DuetPlan(plan=duet_turn(given, dice).plan)


def duet_reflect(given: DuetReflectInput, dice: Dice) -> DuetReflection:
    """What a character concludes from the memories of the dialogue; nothing where it has thought all of it before."""
    asked = InsightsInput(
        who=given.who, situation=_STAGE, evidence=(Evidence(question=given.goal, recalled=given.recalled),),
        earlier=given.earlier, known=(given.other,), most=1,
    )  # fmt: skip
    found = insights(asked, dice).insights
    if found:
        return DuetReflection(text=found[0].text, because=found[0].because)
    return _returning(given, dice)


_RETURNING = {
    "en": (
        "I keep coming back to {topic}, and I have not told {other} why.",
        "{other} and I mean different things when we say {topic}.",
        "Perhaps I make too much of {topic}.",
        "{other} hears more in {topic} than I say.",
        "I would rather laugh with {other} than be right about {topic}.",
        "If it were only about {topic}, it would be easy between {other} and me.",
    ),
    "ko": (
        "나는 자꾸 {topic} 생각으로 돌아온다. 그 까닭은 아직 {other}에게 말하지 않았다.",
        "{topic} 이야기를 {other}과(와) 나는 서로 다르게 듣는다.",
        "어쩌면 내가 {topic}에 너무 매달리는지도 모른다.",
        "{other}은(는) {topic} 이야기에서 내가 말한 것보다 많은 것을 듣는다.",
        "{topic} 때문에 이기느니 {other}과(와) 함께 웃는 편이 낫다.",
        "{topic}뿐이라면 {other}과(와) 나 사이는 쉬웠을 것이다.",
    ),
}


def _returning(given: DuetReflectInput, dice: Dice) -> DuetReflection:
    """A thought about a subject of the memories that was not had before; nothing where all have been."""
    told = [(note, note.happening.topic) for note in given.recalled if note.happening.topic]
    for note, topic in dice.shuffled(told, "topic"):
        for template in dice.shuffled(_RETURNING[given.who.language], "thought"):
            text = resolved(template.format(topic=topic, other=given.other.called))
            if text not in given.earlier:
                return DuetReflection(text=text, because=(note.id,))
    return DuetReflection()
