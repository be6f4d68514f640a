from __future__ import annotations

import pytest

from syncprobe.events import EventKind
from syncprobe.profiles.model import SyncClass
from tests.findings.conftest import Project, implicit, launch, site


class TestValidation:
    @pytest.mark.parametrize(
        "entry",
        ["Normal.__init__", "Distribution.__init__", "Normal.log_prob", "Categorical.__init__"],
    )
    def test_applies_to_reads_inside_distributions(self, project: Project, entry: str) -> None:
        (found,) = project.examine(site(entry=entry, region="learn", per_step=2.0)).sites
        assert (found.rule, found.sync_class) == ("SP301", SyncClass.AVOIDABLE)

    def test_does_not_apply_to_other_constructors(self, project: Project) -> None:
        assert project.rule(site(entry="Embedding.__init__")) == "SP108"

    def test_does_not_apply_to_launches_inside_distributions(self, project: Project) -> None:
        assert project.rule(launch(entry="Normal.__init__", operation="aten::ge")) is None


class TestMasks:
    def test_selection(self, project: Project) -> None:
        assert project.rule(implicit(operation="aten::index.Tensor")) == "SP302"

    def test_assignment(self, project: Project) -> None:
        assert project.rule(implicit(operation="aten::index_put_")) == "SP303"

    def test_update_in_place_is_one_finding(self, project: Project) -> None:
        project.write("def run():\n    lower[(upper > 0) * (lower == upper)] -= 1\n")
        at = project.at("-= 1")
        found = project.examine(implicit(at), implicit(at, operation="aten::index_put_"))
        assert [entry.rule for entry in found.sites] == ["SP303", "SP303"]
        assert [(finding.rule, finding.count) for finding in found.findings] == [("SP303", 20)]

    def test_selection_reported_as_nonzero(self, project: Project) -> None:
        project.write("def run(x):\n    return x[x > 0]\n")
        assert project.rule(implicit(project.at("x > 0"), operation="aten::nonzero")) == "SP302"

    def test_a_host_index_is_no_mask(self, project: Project) -> None:
        found = site(kind=EventKind.COPY_TO_DEVICE, operation="aten::index")
        assert project.rule(found) == "SP203"


class TestDynamicShape:
    @pytest.mark.parametrize(
        "operation",
        ["nonzero", "_unique2", "masked_select", "one_hot", "repeat_interleave.Tensor", "bincount"],
    )
    def test_applies(self, project: Project, operation: str) -> None:
        assert project.rule(implicit(operation=f"aten::{operation}")) == "SP304"

    def test_does_not_apply_to_the_launch(self, project: Project) -> None:
        assert project.rule(launch(operation="aten::nonzero")) is None


class TestNormal:
    def test_sample(self, project: Project) -> None:
        assert project.rule(implicit(operation="aten::normal", entry="Normal.sample")) == "SP305"

    def test_rsample_does_not_wait(self, project: Project) -> None:
        assert project.rule(launch(operation="aten::normal_", entry="Normal.rsample")) is None

    def test_function_with_a_tensor(self, project: Project) -> None:
        assert project.rule(implicit(operation="aten::normal.Tensor_Tensor")) == "SP306"

    def test_in_place_draw_does_not_wait(self, project: Project) -> None:
        assert project.rule(launch(operation="aten::normal_")) is None


class TestMultinomial:
    @pytest.mark.parametrize("entry", ["", "Categorical.sample"])
    def test_applies_where_it_waits(self, project: Project, entry: str) -> None:
        assert project.rule(implicit(operation="aten::multinomial", entry=entry)) == "SP307"

    def test_does_not_apply_where_it_only_launches(self, project: Project) -> None:
        assert project.rule(launch(operation="aten::multinomial")) is None


class TestGradScaler:
    def test_applies(self, project: Project) -> None:
        assert project.rule(site(entry="GradScaler.step", region="learn")) == "SP308"

    def test_does_not_apply_to_the_optimizer(self, project: Project) -> None:
        assert project.rule(site(entry="Adam.step", region="learn")) == "SP108"


class TestComparison:
    @pytest.mark.parametrize("operation", ["aten::equal", "aten::allclose"])
    def test_applies(self, project: Project, operation: str) -> None:
        assert project.rule(implicit(operation=operation)) == "SP309"

    def test_does_not_apply_elementwise(self, project: Project) -> None:
        assert project.rule(launch(operation="aten::eq.Tensor")) is None


class TestExplicitSync:
    def test_applies_to_every_kind_of_synchronize(self, project: Project) -> None:
        found = site(kind=EventKind.EXPLICIT_SYNC, operation="torch.cuda.Event.synchronize")
        assert project.rule(found) == "SP310"

    def test_is_no_finding_outside_the_steps(self, project: Project) -> None:
        found = site(kind=EventKind.EXPLICIT_SYNC, operation="synchronize", per_step=0.0, count=1)
        assert project.examine(found).findings == ()


class TestLinearAlgebra:
    @pytest.mark.parametrize("operation", ["_linalg_check_errors", "_linalg_eigh", "cholesky"])
    def test_applies(self, project: Project, operation: str) -> None:
        assert project.rule(implicit(operation=f"aten::{operation}")) == "SP311"

    def test_does_not_apply_to_launches(self, project: Project) -> None:
        assert project.rule(launch(operation="aten::linalg_inv_ex")) is None


def test_general_rule_takes_what_is_left(project: Project) -> None:
    (found,) = project.examine(implicit(operation="aten::mode")).sites
    assert (found.rule, found.sync_class) == ("SP300", SyncClass.AVOIDABLE)
