"""The world: a tree of nodes, a graph of ways, and the one place that changes them (`executor.step`).

Characters propose actions; the executor applies all of a tick at its end, area by area, so the order in which
characters were computed cannot matter. Import from the modules.
"""
