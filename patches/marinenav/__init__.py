"""The five steps for ``legacy_marinenav``: a folder for each, and beside them what several steps share."""
