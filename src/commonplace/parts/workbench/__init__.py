"""Tools around run files: estimates, differences, bundles, what is saved of a damaged one."""
