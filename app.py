"""The sitcom page: `streamlit run app.py`."""

from runpy import run_module

run_module("commonplace.parts.duet.sitcom.app", run_name="__main__")
