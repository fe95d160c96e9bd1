"""What zlib is told beforehand of what it packs: keys and phrases that nearly every trace or memory repeats.

Both are part of the file's format: with another primer, what was packed cannot be read. So they never change; a better
one comes with a new `schema.FORMAT`. What is most frequent stands last, where it is cheapest to refer to.
"""

from __future__ import annotations

TRACE = (
    b'"plan_day":[{"do":"","emoji":"","location":"","minutes":0,"routine":0,"start":""}],"asked":[{"in'
    b'put":{"item":{"do":"","location":"","location_name":"","minutes":0,"start":""},"recalled":[0,0]}'
    b',"ordinal":0,"outcome":"value","task":"plan_minutes"}],"asked":[{"input":{"floor":true,"news":[0'
    b'],"recalled":[0,0]},"ordinal":0,"outcome":"value","task":"react"}],"asked":[{"input":{"floor":tr'
    b'ue,"news":[0,0],"recalled":[0,0]},"ordinal":0,"outcome":"value","task":"react"}],"dropped":[["",'
    b'""]],"asked":[{"input":{"hearer":"","purpose":"reply","recalled":[0,0],"told":[""]},"ordinal":0,'
    b'"outcome":"value","task":"converse"}],"retrievals":[{"candidates":0,"hits":[[0,0],[0,0]],"k":0,"'
    b'parts":{"importance":[0,0],"recency":[0,0],"relevance":[0,0]},"policy":"park","purpose":"plan","'
    b'query":""}],"retrievals":[{"candidates":0,"hits":[[0,0],[0,0]],"k":0,"parts":{"importance":[0,0]'
    b',"recency":[0,0],"relevance":[0,0]},"policy":"park","purpose":"talk","query":""}],"asked":[{"inp'
    b'ut":{"news":[0,0],"recalled":[0,0]},"ordinal":0,"outcome":"value","task":"react"}],"asked":[{"in'
    b'put":{"news":[0],"recalled":[0,0]},"ordinal":0,"outcome":"value","task":"react"}],"retrievals":['
    b'{"candidates":0,"hits":[[0,0],[0,0]],"k":0,"parts":{"importance":[0,0],"recency":[0,0],"relevanc'
    b'e":[0,0]},"policy":"park","purpose":"react","query":""}],"reaction":{"asked":0},"asked":[{"input'
    b'":{},"ordinal":0,"outcome":"value","task":"rate"}],"reaction":{"decision":"keep","reason":"nothi'
    b'ng new"},"item":"","percepts":[["",0]],"stored":[[0,""]],'
)
"""The keys of a trace."""

DETAILS = (
    b'"frame":{"level":"day","place":"","start":"","what":"plan"}},"tags":["day"]"source":"scenario"}"tell":["'
    b'"about":"","topic":"","what":"seed"}"about":"","what":"insight"}"sky":"","old":"","what":"weather"'
    b'"object":"","object_name":"","place_name":"","state":"","what":"thing","words":"is "}"what":"absent"'
    b'"other_name":"","what":"arrived","what":"left","outcome":"done","what":"acted"}"why":"","what":"refused"'
    b'"doing":"","object":"","object_name":"","place_name":"","verb":"USE","what":"did"}}'
    b',"emotion":[0.4,0.3,1.0,[""]],"place":["'
    b'{"details":{"frame":{"quote":"","to":"","to_called":"","what":"i_said"}},"place":["'
    b'{"details":{"frame":{"called":"","place_name":"","quote":"","to":"","to_called":"","to_me":"1","what":"said","who":"'
    b'{"details":{"frame":{"called":"","doing":"","place":"","place_name":"","what":"doing","who":""}},"place":["'
)
"""The details of a memory."""
