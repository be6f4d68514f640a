"""The clock that tests of recorders move by hand, for what measures without one."""

from tests.recording.conftest import clock

__all__ = ["clock"]
