"""The first hour, 3 of 5: Korean, with its particles and endings, without a model."""

from datetime import datetime

from commonplace.memory import MemoryStream

stream = MemoryStream("지우")
stream.add_many(["민수는 빵이 좋다고 했다", "축제는 10월 4일이다", "영희가 우산을 빌려 갔다"], at=datetime(2031, 10, 1))
for question in ("민수는 빵을 좋아해?", "축제가 언제야?", "우산은 누구한테 있어?"):
    print(question, "→", stream.recall(question, at=datetime(2031, 10, 2), k=1)[0].memory.text)
