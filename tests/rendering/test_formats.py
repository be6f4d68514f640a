"""What holds for every format: any profile can be shown, none changes it, names are checked."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from syncprobe.errors import UnknownNameError
from syncprobe.profiles import storage
from syncprobe.profiles.model import Time
from syncprobe.rendering import FORMATS
from tests.rendering import factories

ODD = {
    "small": factories.profile(),
    "host bound": factories.host_bound_profile(),
    "empty": factories.empty_profile(),
    "no steps": factories.profile(run=factories.run(steps=0)),
    "no time": factories.profile(time=Time(), ceiling=()),
    "zero time": factories.profile(time=Time(modelled_ms_per_step=0.0, spec="t4"), ceiling=()),
    "no findings": factories.profile(findings=()),
    "no regions": factories.profile(regions={}),
    "no digest": factories.profile(digest=None),
    "no rates": factories.profile(per_step={}, counts={}),
    "unknown operations": factories.profile(unknown_ops=tuple(f"aten::new_{n}" for n in range(30))),
    "incomplete": factories.profile(run=factories.run(is_complete=False, exit_code=3)),
    "empty names": factories.profile(
        sites=(factories.site(path="", function="", operation="", region=""),),
        findings=(factories.finding(title="", advice=""),),
    ),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("profile", ODD.values(), ids=ODD)
def test_every_format_shows_any_profile(name, profile):
    # What a trace shows is the modelled step, so there must be one; the rest may be as odd as it likes.
    text = FORMATS[name].render([replace(profile, timeline=factories.timeline())])
    assert text.endswith("\n")
    assert text.strip()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_several_profiles(name):
    profiles = [factories.profile(), factories.empty_profile()]
    assert FORMATS[name].render(
        [replace(profile, timeline=factories.timeline()) for profile in profiles]
    )


def test_json_of_one_profile_is_the_file_format():
    profile = factories.profile()
    assert storage.loads(FORMATS["json"].render([profile])) == profile


def test_json_of_several_profiles_is_a_list():
    profiles = [factories.profile(), factories.empty_profile()]
    documents = json.loads(FORMATS["json"].render(profiles))
    assert [storage.loads(json.dumps(document)) for document in documents] == profiles


def test_a_misspelt_format_is_suggested():
    with pytest.raises(UnknownNameError, match="Did you mean 'console'"):
        FORMATS["konsole"]
