"""`python -m commonplace.sitcom [SCENARIO] [-- OPTIONS OF STREAMLIT]`: the page of a duet."""

import sys

from commonplace.parts.duet.sitcom.__main__ import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
