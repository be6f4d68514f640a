from __future__ import annotations

from dataclasses import replace

import pytest

from syncprobe.events import EventKind
from syncprobe.profiles.model import Caller, SyncClass
from tests.findings.conftest import Project, conversion, copy_to_host, implicit, site


class TestPerSampleRead:
    def test_applies_when_a_step_repeats_the_line(self, project: Project) -> None:
        assert project.rule(site(per_step=5.0)) == "SP101"

    def test_does_not_apply_once_per_step(self, project: Project) -> None:
        assert project.rule(site(per_step=1.0)) == "SP100"

    def test_a_little_more_than_once_per_step_is_no_loop(self, project: Project) -> None:
        assert project.rule(site(per_step=1.2)) == "SP100"

    def test_does_not_apply_when_the_line_itself_holds_all_the_reads(
        self, project: Project
    ) -> None:
        project.write("def run(a, b):\n    return a.item(), b.item()\n")
        assert project.rule(site(project.at("a.item()"), per_step=2.0)) == "SP104"
        assert project.rule(site(project.at("a.item()"), per_step=10.0)) == "SP101"

    def test_without_marked_steps_the_source_must_show_an_inner_loop(
        self, project: Project
    ) -> None:
        project.write("""
            for _ in range(steps):
                for row in rows:
                    chosen.append(row.item())
                last = total.item()
                environment.step(chosen)
        """)
        inner, outer = project.at("row.item()"), project.at("total.item()")
        assert project.rule(site(inner, per_step=50, count=50), steps=0) == "SP101"
        assert project.rule(site(outer, per_step=10, count=10), steps=0) == "SP100"


class TestUnusedRead:
    def test_applies_to_a_bare_read(self, project: Project) -> None:
        project.write("def run(loss):\n    loss.item()\n")
        assert project.rule(site(project.at("loss.item()"))) == "SP102"

    def test_does_not_apply_to_a_value_that_is_passed_on(self, project: Project) -> None:
        project.write("def run(loss):\n    losses.append(loss.item())\n")
        assert project.rule(site(project.at("loss.item()"))) == "SP100"

    def test_is_avoidable_in_learning_too(self, project: Project) -> None:
        project.write("def run(loss):\n    loss.item()\n")
        (found,) = project.examine(site(project.at("loss.item()"), region="learn")).sites
        assert found.sync_class is SyncClass.AVOIDABLE

    def test_says_when_only_some_callers_throw_the_value_away(self, project: Project) -> None:
        project.write("""
            def to_host(loss):
                return loss.cpu().numpy()

            def learn(loss):
                remember(to_host(loss))
                to_host(loss)  # for nobody
        """)
        stacks = [project.at("remember(", "learn")], [project.at("for nobody", "learn")]
        read = copy_to_host(project.at("loss.cpu()", "to_host"), region="learn")
        callers = tuple(Caller(stack=tuple(stack), count=5) for stack in stacks)
        (finding,) = project.examine(replace(read, callers=callers)).findings
        assert finding.rule == "SP102"
        assert "Some of its callers do use the value." in finding.advice


class TestMetricRead:
    @pytest.mark.parametrize("region", ["learn", "eval"])
    def test_applies_to_reads_in_learning_and_evaluation(
        self, project: Project, region: str
    ) -> None:
        (scalar, copy) = project.examine(
            site(region=region, per_step=3.0), copy_to_host(line=21, region=region)
        ).sites
        assert scalar.rule == copy.rule == "SP103"
        assert scalar.sync_class is copy.sync_class is SyncClass.DEFERRABLE

    def test_applies_next_to_backward_in_any_region(self, project: Project) -> None:
        project.write("""
            def run():
                for batch in batches:
                    loss = compute(batch)
                    if batch.number % 100 == 0:
                        losses.append(loss.item())
                    loss.backward()
        """)
        assert project.rule(site(project.at("loss.item()"), region="other")) == "SP103"

    def test_does_not_apply_to_acting_in_a_loop_that_also_learns(self, project: Project) -> None:
        project.write("""
            def run():
                while True:
                    action = policy(state).argmax().item()
                    state = environment.step(action)
                    if is_due():
                        loss = compute()
                        loss.backward()
        """)
        assert project.rule(site(project.at(".item()"), region="other")) == "SP207"

    def test_applies_to_a_log_line(self, project: Project) -> None:
        project.write("def run():\n    writer.add_scalar('entropy', entropy.item(), 3)\n")
        assert project.rule(site(project.at("entropy.item()"), region="act")) == "SP103"


class TestSeveralReads:
    def test_applies_to_two_reads_of_one_function(self, project: Project) -> None:
        reads = [copy_to_host(line=20, region="insert"), copy_to_host(line=21, region="insert")]
        assert {found.rule for found in project.examine(*reads).sites} == {"SP104"}

    def test_does_not_apply_to_reads_in_different_regions(self, project: Project) -> None:
        assert project.rule(site(region="insert"), site(line=21, region="act")) == "SP100"


class TestPrintedTensor:
    @pytest.mark.parametrize(
        "entry", ["Tensor.__repr__", "Tensor.__format__", "_str", "Logger.info"]
    )
    def test_applies_to_formatting_by_its_library_function(
        self, project: Project, entry: str
    ) -> None:
        (found,) = project.examine(site(entry=entry)).sites
        assert (found.rule, found.sync_class) == ("SP105", SyncClass.DEFERRABLE)

    def test_covers_everything_that_formatting_does(self, project: Project) -> None:
        assert project.rule(implicit(operation="aten::masked_select", entry="_str")) == "SP105"

    def test_applies_to_a_print_call_that_reads_by_itself(self, project: Project) -> None:
        project.write("def run(loss):\n    print(loss)\n")
        assert project.rule(site(project.at("print(loss)"))) == "SP105"

    def test_applies_to_a_call_of_format(self, project: Project) -> None:
        project.write("def run(meter):\n    return text.format(**meter)\n")
        assert project.rule(site(project.at("text.format"), per_step=4.0)) == "SP105"

    def test_does_not_apply_to_a_number_read_for_printing(self, project: Project) -> None:
        project.write("def run(loss):\n    print(loss.item())\n")
        assert project.rule(site(project.at("loss.item()"))) == "SP103"


class TestBranch:
    @pytest.mark.parametrize(
        "line",
        ["if mask.any():", "while mask.any():", "assert mask.any()", "x = 1 if mask.any() else 2"],
    )
    def test_applies_to_tests(self, project: Project, line: str) -> None:
        body = "\n        pass" if line.endswith(":") else ""
        project.write(f"def run(mask):\n    {line}{body}\n")
        assert project.rule(site(project.at("mask.any()"))) == "SP106"

    def test_applies_several_times_per_step_where_no_loop_is_to_be_seen(
        self, project: Project
    ) -> None:
        assert project.rule(site(operation="Tensor.__bool__", per_step=2.7)) == "SP106"

    def test_applies_by_the_operation_without_source(self, project: Project) -> None:
        assert project.rule(site(operation="Tensor.__bool__")) == "SP106"

    def test_a_branch_in_learning_cannot_be_put_off(self, project: Project) -> None:
        project.write("def run(kl):\n    if kl.item() > 0.1:\n        return\n")
        (found,) = project.examine(site(project.at("kl.item()"), region="learn")).sites
        assert (found.rule, found.sync_class) == ("SP106", SyncClass.AVOIDABLE)

    def test_does_not_apply_to_the_body_of_a_branch(self, project: Project) -> None:
        project.write("def run(kl):\n    if is_due:\n        total = total + kl.item()\n")
        assert project.rule(site(project.at("kl.item()"))) == "SP100"

    def test_does_not_apply_to_what_a_choice_chooses(self, project: Project) -> None:
        project.write("def run(index):\n    size = int(index.max()) if index.numel() else 0\n")
        assert project.rule(site(project.at("int(index.max())"))) == "SP100"


class TestReadInsideConstructor:
    def test_applies_next_to_a_conversion(self, project: Project) -> None:
        project.write("def run(values):\n    return torch.tensor([v for v in values])\n")
        at = project.at("torch.tensor")
        assert project.rule(site(at, per_step=8.0), conversion(at)) == "SP107"

    def test_does_not_apply_when_the_line_spells_out_its_read(self, project: Project) -> None:
        project.write("def run(value):\n    return torch.tensor([value.item()])\n")
        at = project.at("torch.tensor")
        assert project.rule(site(at), conversion(at)) == "SP100"


class TestHiddenRead:
    def test_applies_to_reads_of_library_functions(self, project: Project) -> None:
        (found,) = project.examine(site(entry="clip_grad_norm_", region="learn")).sites
        assert (found.rule, found.sync_class) == ("SP108", SyncClass.AVOIDABLE)

    def test_applies_to_operations_that_read_their_argument(self, project: Project) -> None:
        assert project.rule(site(operation="aten::masked_fill_")) == "SP108"

    def test_applies_to_copies_of_where_groups_end(self, project: Project) -> None:
        """Nobody wrote that copy, least of all in a backward pass."""
        for entry in ("", "Tensor.backward"):
            copy = copy_to_host(operation="aten::_grouped_mm", entry=entry, region="backward")
            assert project.rule(copy) == "SP108"

    @pytest.mark.parametrize("entry", ["Tensor.__iter__", "DeviceContext.__torch_function__"])
    def test_does_not_apply_to_reads_of_the_line_itself(self, project: Project, entry: str) -> None:
        assert project.rule(site(entry=entry)) == "SP100"


def test_general_rule_takes_what_is_left(project: Project) -> None:
    (found,) = project.examine(site(operation="something new")).sites
    assert (found.rule, found.sync_class) == ("SP100", SyncClass.AVOIDABLE)


def test_events_that_do_not_block_are_no_reads(project: Project) -> None:
    (found,) = project.examine(site(kind=EventKind.COPY_TO_HOST, is_blocking=False)).sites
    assert (found.rule, found.sync_class) == (None, None)
