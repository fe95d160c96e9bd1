"""Korean particles take the form that the sound before them asks for."""

from __future__ import annotations

import pytest

from commonplace.languages.ko.josa import ongoing, planned, resolved


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("미라은(는) 온다", "미라는 온다"),
        ("준은(는) 온다", "준은 온다"),
        ("문이(가) 열린다", "문이 열린다"),
        ("찻주전자이(가) 끓는다", "찻주전자가 끓는다"),
        ("국수을(를) 먹는다", "국수를 먹는다"),
        ("빵을(를) 먹는다", "빵을 먹는다"),
        ("준과(와) 미라", "준과 미라"),
        ("미라과(와) 준", "미라와 준"),
        ("광장(으)로 간다", "광장으로 간다"),
        ("찻집(으)로 간다", "찻집으로 간다"),
        ("서울(으)로 간다", "서울로 간다"),
        ("부두(으)로 간다", "부두로 간다"),
        ("쉬는 중(이)다.", "쉬는 중이다."),
        ("요리사(이)다.", "요리사다."),
        ("쉬는 중(이)었다.", "쉬는 중이었다."),
        ("요리사(이)었다.", "요리사였다."),
        ("3을(를) 더하고 2을(를) 뺀다", "3을 더하고 2를 뺀다"),
        ("7(으)로 나눈다", "7로 나눈다"),
        ("10(으)로 나눈다", "10으로 나눈다"),
        ("민수아(야)", "민수야"),
        ("영숙아(야)", "영숙아"),
        ("민수(이)랑 영숙(이)랑", "민수랑 영숙이랑"),
        ("국수(이)에요. 빵(이)에요.", "국수예요. 빵이에요."),
        ("“국수”을(를) 판다", "“국수”를 판다"),
        ("Mira은(는) Kim을(를) 안다", "Mira는 Kim을 안다"),
        ("Mark이(가) Daniel(으)로 바꾼다", "Mark가 Daniel로 바꾼다"),
        ("Kit과(와) Ines과(와) Jack아(야)", "Kit과 Ines와 Jack아"),
    ],
)
def test_a_particle_follows_the_sound_before_it(text: str, read: str) -> None:
    assert resolved(text) == read


def test_after_a_sound_that_is_not_known_both_forms_stay() -> None:
    assert resolved("美은(는) 온다") == "美은(는) 온다"


def test_a_text_without_particles_stays_as_it_is() -> None:
    assert resolved("비가 그친다. (정말로)") == "비가 그친다. (정말로)"


@pytest.mark.parametrize(
    ("doing", "read"),
    [
        ("그물 손질하기", "그물 손질하는 중"),
        ("책 읽기", "책 읽는 중"),
        ("연 만들기", "연 만드는 중"),
        ("국물을 내는 중", "국물을 내는 중"),
        ("재미있는 이야기", "재미있는 이야기"),
        ("기", "기"),
    ],
)
def test_a_doing_reads_as_something_under_way(doing: str, read: str) -> None:
    assert ongoing(doing) == read


@pytest.mark.parametrize(
    ("doing", "read"),
    [("국물을 내는 중", "국물을 내기"), ("문을 여는 중이다", "문을 열기"), ("자는 중", "자기"), ("휴식", "휴식")],
)
def test_a_doing_under_way_reads_as_something_to_do(doing: str, read: str) -> None:
    assert planned(doing) == read
