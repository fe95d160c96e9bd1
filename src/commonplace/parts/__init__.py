"""Everything optional. The core imports none of it: `commonplace.registry` says what is found here by name."""
