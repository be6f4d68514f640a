from __future__ import annotations

import pytest

from syncprobe.findings.usage import unused_share
from tests.findings.conftest import Project, copy_to_host


@pytest.mark.parametrize(
    "body",
    [
        "loss.item()",
        "loss.detach().cpu().numpy()",
        "value = loss.item()",
        "value = float(loss.item())",
        "value, other = loss.item(), 3",
    ],
)
def test_values_the_function_drops_are_unused(project: Project, body: str) -> None:
    project.write(f"def run(loss):\n    {body}\n    other = 1\n    return other\n")
    assert _share(project) == 1.0


@pytest.mark.parametrize(
    "body",
    [
        "log(loss.item())",
        "value = loss.item(); print(value)",
        "self.value = loss.item()",
        "values[0] = loss.item()",
        "total += loss.item()",
        "yield loss.item()",
        "x = [loss.item()]",
        "x = loss.item() + 1",
        "if loss.item(): pass",
    ],
)
def test_values_that_go_somewhere_are_used(project: Project, body: str) -> None:
    project.write(f"def run(self, loss, total, values):\n    {body}\n")
    assert _share(project) == 0.0


def test_a_name_that_a_later_turn_of_the_loop_reads_is_used(project: Project) -> None:
    project.write("""
        def run(losses):
            value = 0
            for loss in losses:
                show(value)
                value = loss.item()
    """)
    assert _share(project) == 0.0


def test_a_global_name_is_used(project: Project) -> None:
    project.write("def run(loss):\n    global value\n    value = loss.item()\n")
    assert _share(project) == 0.0


class TestThroughCallers:
    RETURNS = """
        def run(loss):
            {body}

        def middle(kind):
            return run(given)

        def top():
            {top}
    """

    @pytest.mark.parametrize(
        "body",
        [
            "return loss.item()",
            "value = loss.item(); return value",
            "return 1, loss.item()",
        ],
    )
    def test_a_result_that_the_caller_drops_is_unused(self, project: Project, body: str) -> None:
        project.write(
            self.RETURNS.format(body=body.replace("; ", "\n            "), top="middle()")
        )
        assert _share(project, "run(given)", " middle()") == 1.0

    @pytest.mark.parametrize(
        ("top", "share"),
        [
            ("first, _ = middle()\n            use(first)", 1.0),
            ("return middle()[0]", 1.0),
            ("first, second = middle()\n            use(second)", 0.0),
            ("return middle()[1]", 0.0),
            ("pair = middle()\n            use(pair)", 0.0),
            ("use(0, middle())", 0.0),
            ("return middle()", 0.0),
        ],
    )
    def test_elements_of_tuples_are_followed(
        self, project: Project, top: str, share: float
    ) -> None:
        project.write(self.RETURNS.format(body="return 1, loss.item()", top=top))
        assert _share(project, "run(given)", " middle()") == share

    def test_a_call_through_a_table_is_followed(self, project: Project) -> None:
        project.write("""
            def run(loss):
                return loss.item()

            def middle(kind):
                return self.table[kind](loss)

            def top():
                agent.middle()
        """)
        assert _share(project, "self.table", "agent.middle()") == 1.0

    def test_two_calls_on_one_line_are_followed_together(self, project: Project) -> None:
        project.write("""
            def run(loss):
                return loss.item()

            def middle():
                return run(first), run(second)

            def top():
                middle()
        """)
        assert _share(project, "run(first)", "    middle()") == 1.0

    def test_a_caller_without_source_may_use_it(self, project: Project) -> None:
        project.write("def run(loss):\n    return loss.item()\n")
        assert _share(project) == 0.0


def _share(project: Project, *frames: str) -> float:
    callers = [
        project.at(text, function)
        for text, function in zip(frames, ("middle", "top"), strict=False)
    ]
    at = project.at("loss.item()") if "loss.item()" in project.text else project.at("loss.detach()")
    return unused_share(copy_to_host(at, callers=callers), project.source)
