"""A page for the duet: two characters on a stage, and for every line the reasons why it was said.

`python -m commonplace.sitcom` opens it, or `streamlit run` on `app.py`. The page drives `create_run` and `resume_run`,
so that what it plays is a run file like any other.
"""
