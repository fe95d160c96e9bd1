"""GraphML: a graph as a file that Gephi, yEd, Cytoscape, igraph and networkx read (http://graphml.graphdrawing.org)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from commonplace.text import printable

Cell = str | int | float | bool
_TYPES: Mapping[type, str] = {str: "string", int: "long", float: "double", bool: "boolean"}
_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def graphml(
    nodes: Iterable[tuple[str, Mapping[str, Cell]]],
    edges: Iterable[tuple[str, str, Mapping[str, Cell]]],
    *,
    directed: bool,
) -> bytes:
    """Returns a GraphML document.

    `nodes`: (id, values); `edges`: (id of the source, id of the target, values). Values of one name have one type
    among the nodes and one among the edges. Control characters, which XML cannot hold, are left out of texts.
    """
    root = Element("graphml", xmlns=_NAMESPACE)
    graph = Element("graph", edgedefault="directed" if directed else "undirected")
    keys: dict[tuple[str, str], str] = {}

    def describe(element: Element, values: Mapping[str, Cell]) -> None:
        for name, value in values.items():
            of = element.tag, name
            if of not in keys:
                keys[of] = f"d{len(keys)}"
                about = {"id": keys[of], "for": of[0], "attr.name": name, "attr.type": _TYPES[type(value)]}
                SubElement(root, "key", about)
            text = str(value).lower() if isinstance(value, bool) else printable(str(value))
            SubElement(element, "data", key=keys[of]).text = text

    for id, values in nodes:
        describe(SubElement(graph, "node", id=printable(id)), values)
    for source, target, values in edges:
        describe(SubElement(graph, "edge", source=printable(source), target=printable(target)), values)
    root.append(graph)
    indent(root)
    return tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"
