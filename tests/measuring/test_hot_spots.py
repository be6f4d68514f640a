"""Own time by function and line, sampled in a pass of its own."""

from __future__ import annotations

import pytest

import syncprobe
from syncprobe.measuring.hot_calls import hot_calls
from syncprobe.measuring.hot_spots import hot_spots
from syncprobe.recording.callsite import OWN_CODE

SCRIPT = """
import time
import torch


class Physics:
    def dynamics(self):
        end = time.perf_counter() + 0.004
        while time.perf_counter() < end:
            pass


class Boat(Physics):
    pass  # what it inherits is called by the name of the class that it is in


def learn(x):
    for _ in range(20):
        x = x * 1.0
    return x


def main():
    physics, x = Boat(), torch.ones(4, device="cuda")
    model = torch.nn.Linear(4, 4).cuda()
    optimizer = torch.optim.SGD(model.parameters())
    for _ in range(25):
        physics.dynamics()
        model(learn(x)).sum().backward()
        optimizer.step()


main()
"""


def path_of(file):
    return {"mine.py": "mine.py", "ours.py": OWN_CODE}.get(file)


def frame(name, file, first, line):
    return f"{name}\x00{file}\x00{first}\x01l{line}"


def test_own_time_belongs_to_the_innermost_line_of_user_code():
    stack = (
        frame("main", "mine.py", 1, 9),
        frame("step", "mine.py", 20, 22),
        "sum\x00<built-in>\x000",
    )
    library = (*stack, frame("linear", "torch.py", 1, 2))
    spots = hot_spots([(stack, 0.003), (library, 0.001)], path_of)
    assert [(spot.site.function, spot.site.line, spot.share) for spot in spots] == [
        ("step", 20, 1.0),
        ("step", 22, 1.0),
    ]


def test_time_inside_the_device_is_nobodys():
    inside = (frame("main", "mine.py", 1, 9), frame("dispatch", "ours.py", 1, 2))
    assert hot_spots([(inside, 1.0)], path_of) == ()
    assert hot_calls([(inside, 1.0)], path_of) == ()


def test_time_of_the_sampler_is_nobodys():
    sampler = "/site-packages/pyinstrument/profiler.py"
    stack = (frame("main", "mine.py", 1, 9), frame("is_running", sampler, 215, 220))

    def path_of_all(file):
        return path_of(file) or file

    assert hot_spots([(stack, 0.004)], path_of_all) == ()


def test_calls_form_a_tree_whatever_libraries_and_launchers_are_between():
    launcher = frame("run", "ours.py", 1, 2)
    main = (launcher, frame("main", "mine.py", 1, 9))
    step = (*main, frame("callback", "torch.py", 1, 2), frame("step", "mine.py", 20, 22))
    log = (*main, frame("log", "mine.py", 40, 41))
    rare = (*main, frame("rare", "mine.py", 50, 51))
    stacks = [(main, 8.0), (step, 40.0), (log, 15.0), (step, 0.5), (rare, 0.5)]
    assert [
        (call.depth, call.site.function, call.share, call.own_share)
        for call in hot_calls(stacks, path_of)
    ] == [
        (0, "main", 1.0, 8 / 64),
        (1, "step", 40.5 / 64, 40.5 / 64),
        (1, "log", 15 / 64, 15 / 64),
    ]


def test_recursion_is_kept_to_a_depth():
    stack = tuple(frame("again", "mine.py", 1, 2) for _ in range(500))
    calls = hot_calls([(stack, 1.0)], path_of)
    assert [call.own_share for call in calls] == [0.0] * 39 + [1.0]


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    script = tmp_path_factory.mktemp("hot") / "hot.py"
    script.write_text(SCRIPT)
    from syncprobe.targets.running import RunOptions, run

    return run(str(script), RunOptions(device="sim", has_lines=True))


def test_the_function_that_costs_most_comes_first_whatever_it_does(profile):
    assert profile.run.is_complete
    first = profile.hot_spots[0]
    assert (first.is_function, first.site.function) == (True, "Physics.dynamics")
    assert first.share > 0.5


def test_the_tree_says_who_called_it(profile):
    calls = {call.site.function: call for call in profile.hot_calls}
    assert calls["main"].depth + 1 == calls["Physics.dynamics"].depth
    assert calls["main"].share >= calls["Physics.dynamics"].share > 0.5
    assert calls["main"].own_share < 0.5


def test_lines_of_a_scripts_functions_are_timed_with_events_or_without(profile):
    functions = {line.site.function for line in profile.lines}
    assert {"Physics.dynamics", "learn", "main"} <= functions
    waiting = next(line for line in profile.lines if line.text.startswith("while time"))
    assert waiting.measured_us_per_step > 1_000


def test_hot_spots_are_kept_in_files(profile, tmp_path):
    profile.save(tmp_path / "profile.json")
    loaded = syncprobe.load(tmp_path / "profile.json")
    assert (loaded.hot_spots, loaded.hot_calls) == (profile.hot_spots, profile.hot_calls)
