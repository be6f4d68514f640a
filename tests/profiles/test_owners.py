"""Sites of libraries are rolled up to the innermost line of the user's own files."""

from __future__ import annotations

from pathlib import Path

from syncprobe.events import CallSite
from syncprobe.profiles.lines.owners import Way, files_of, is_within, own_lines, owned, owner
from syncprobe.profiles.model import Caller
from tests.rendering import factories

TRAINER = CallSite(path="trainer/loop.py", line=70, function="fit")
LOGGER = CallSite(path="trainer/log.py", line=9, function="log")
MAIN = CallSite(path="train.py", line=12, function="main")
STEP = CallSite(path="train.py", line=5, function="training_step")


def test_the_owner_is_the_innermost_frame_of_ones_own():
    assert owner((LOGGER, STEP, TRAINER, MAIN), {"train.py"}) == STEP
    assert owner((LOGGER, TRAINER), {"train.py"}) is None


def test_ways_through_the_same_line_are_added_up_and_the_dearest_comes_first():
    ways = [
        Way((LOGGER, STEP, TRAINER, MAIN), 2, 1.0, 10.0),
        Way((LOGGER, TRAINER, MAIN), 6, 3.0, 90.0),
        Way((LOGGER, TRAINER, TRAINER, MAIN), 1, 0.5, 5.0),
        Way((LOGGER, TRAINER), 1, 0.5, 5.0),
    ]
    found = own_lines(ways, {"train.py"})
    assert [(line.site, line.count, line.per_step, line.host_us_modelled) for line in found] == [
        (MAIN, 7, 3.5, 95.0),
        (STEP, 2, 1.0, 10.0),
    ]


def test_a_line_of_ones_own_is_not_rolled_up_further():
    assert own_lines([Way((STEP, TRAINER, MAIN), 2, 1.0, 10.0)], {"train.py"}) == ()


def test_a_profile_can_be_rolled_up_to_other_files_by_how_often_callers_came():
    site = factories.site(
        path=LOGGER.path,
        count=40,
        per_step=4.0,
        us=100.0,
        callers=(
            Caller(stack=(STEP, TRAINER, MAIN), count=30),
            Caller(stack=(TRAINER, MAIN), count=10),
        ),
    )
    profile = factories.profile(sites=(site,))
    assert files_of(profile) == {"trainer/log.py", "trainer/loop.py", "train.py"}
    (rolled,) = owned(profile, {"train.py"}).sites
    assert [(line.site, line.count, line.host_us_modelled) for line in rolled.own] == [
        (STEP, 30, 75.0),
        (MAIN, 10, 25.0),
    ]
    (rolled,) = owned(profile, {"trainer/loop.py"}).sites
    assert [(line.site, line.per_step) for line in rolled.own] == [(TRAINER, 4.0)]


def test_installed_packages_are_not_within_the_folder_that_they_are_installed_in():
    assert is_within(Path("/project/src/model.py"), Path("/project"))
    assert is_within(Path("/project/train.py"), Path("/project/train.py"))
    assert not is_within(Path("/project/.venv/site-packages/timm/layers.py"), Path("/project"))
    assert not is_within(Path("/elsewhere/model.py"), Path("/project"))
