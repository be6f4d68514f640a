from __future__ import annotations

import pytest

from syncprobe.profiles.model import SyncClass
from tests.findings.conftest import Project, allocation, conversion, launch, upload


class TestListToDevice:
    def test_is_one_finding_for_conversion_and_upload(self, project: Project) -> None:
        found = project.examine(upload(per_step=5.0, cost=30.0), conversion(per_step=5.0, cost=1.0))
        assert [entry.rule for entry in found.sites] == ["SP401", "SP401"]
        assert [entry.sync_class for entry in found.sites] == [SyncClass.AVOIDABLE, None]
        (finding,) = found.findings
        assert (finding.count, finding.per_step, finding.cost_us_modelled) == (50, 5.0, 31.0)

    def test_applies_to_the_constructor_with_a_device(self, project: Project) -> None:
        assert project.rule(upload(operation="torch.tensor")) == "SP401"

    def test_does_not_apply_to_arrays_that_share_memory(self, project: Project) -> None:
        assert project.rule(upload(), conversion(operation="torch.from_numpy")) == "SP206"

    def test_does_not_apply_outside_the_steps(self, project: Project) -> None:
        parts = upload(per_step=0.0, count=1), conversion(per_step=0.0, count=1)
        assert [entry.rule for entry in project.examine(*parts).sites] == ["SP200", None]


class TestRebuiltConstant:
    @pytest.mark.parametrize(
        "made",
        [
            "torch.zeros((1, 200))",
            "torch.linspace(0, 10, n).unsqueeze(1)",
            "torch.arange(n)",
            "torch.tensor([[1.0, -2.0]])",
        ],
    )
    def test_applies_to_uploads_of_constants(self, project: Project, made: str) -> None:
        project.write(f"def run(n):\n    return {made}.to(device)\n")
        assert project.rule(upload(project.at(".to(device)"), region="learn")) == "SP402"

    def test_applies_through_names(self, project: Project) -> None:
        project.write("""
            def run(n):
                offset = torch.linspace(0, 10, n).unsqueeze(1)
                offset = offset.expand(n, 4).to(torch.int64).to(device)
        """)
        assert project.rule(upload(project.at(".to(device)"))) == "SP402"

    def test_applies_to_ranges_made_on_the_device(self, project: Project) -> None:
        assert project.rule(launch(operation="aten::arange.start_step")) == "SP402"

    def test_does_not_apply_to_a_tensor_of_variables(self, project: Project) -> None:
        project.write("def run(x):\n    return torch.tensor([x, 1.0]).to(device)\n")
        at = project.at(".to(device)")
        assert project.rule(upload(at), conversion(at)) == "SP401"

    def test_does_not_apply_to_what_happens_once(self, project: Project) -> None:
        project.write("low = torch.tensor([-1.0, -1.0]).to(device)\n")
        assert project.rule(upload(project.at("low"), count=1), steps=0) == "SP200"


class TestConversion:
    def test_applies_in_the_steps(self, project: Project) -> None:
        assert project.rule(conversion()) == "SP400"

    @pytest.mark.parametrize("operation", ["torch.from_numpy", "torch.frombuffer"])
    def test_does_not_apply_to_shared_memory(self, project: Project, operation: str) -> None:
        assert project.rule(conversion(operation=operation)) is None

    def test_does_not_apply_outside_the_steps(self, project: Project) -> None:
        assert project.rule(conversion(per_step=0.0, count=9)) is None


class TestStepBuffer:
    def test_applies_to_a_buffer_the_line_asks_for(self, project: Project) -> None:
        project.write("def run(x):\n    return x.new_zeros(64, 51)\n")
        at = project.at("new_zeros")
        assert project.rule(allocation(at, operation="aten::new_zeros")) == "SP403"

    def test_does_not_apply_to_results_of_operations(self, project: Project) -> None:
        project.write("def run(x):\n    return x + torch.zeros(3, device=device)\n")
        assert project.rule(allocation(project.at("x + "), operation="aten::add")) is None

    def test_does_not_apply_to_what_an_upload_fills(self, project: Project) -> None:
        project.write("def run(x):\n    return torch.zeros(3).to(device)\n")
        at = project.at("zeros")
        assert project.rule(allocation(at, operation="aten::empty_strided"), upload(at)) is None
