"""The five founding documents, each a module with the names that stand in it.

Each module is an adapter over what the rest of the package does: nothing is implemented twice. Names in camel case are
written in snake case. `docs/founding.md` lists every requirement, what fulfils it and the test that shows it.
"""
