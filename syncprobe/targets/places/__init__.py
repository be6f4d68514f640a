"""Folders that programs are run in: copies of a project, and revisions of it, that nobody else uses."""
