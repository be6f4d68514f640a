from __future__ import annotations

import pytest

from syncprobe.profiles.model import SyncClass
from tests.findings.conftest import Project, conversion, copy_to_host, site, upload


class TestPerSampleCopy:
    def test_applies_when_a_step_repeats_the_copy(self, project: Project) -> None:
        assert project.rule(copy_to_host(per_step=5.0)) == "SP201"

    def test_does_not_apply_once_per_step(self, project: Project) -> None:
        assert project.rule(copy_to_host(per_step=1.0, region="insert")) == "SP200"

    def test_counts_a_chain_of_reads_as_one(self, project: Project) -> None:
        project.write("def run(action):\n    return action.cpu().data.numpy()[0].tolist()\n")
        assert project.rule(copy_to_host(project.at("cpu()"), per_step=2.0)) == "SP201"


class TestPageableNonBlocking:
    def test_applies_to_a_copy_that_says_it_does_not_block(self, project: Project) -> None:
        project.write("def run(x):\n    return x.to(device, non_blocking=True)\n")
        assert project.rule(upload(project.at("x.to"))) == "SP202"

    @pytest.mark.parametrize("arguments", ["device", "device, non_blocking=False"])
    def test_does_not_apply_to_a_copy_that_is_meant_to_block(
        self, project: Project, arguments: str
    ) -> None:
        project.write(f"def run(x):\n    return x.to({arguments})\n")
        assert project.rule(upload(project.at("x.to"))) == "SP206"

    def test_does_not_apply_to_a_copy_from_pinned_memory(self, project: Project) -> None:
        project.write("def run(x):\n    return x.to(device, non_blocking=True)\n")
        assert project.rule(upload(project.at("x.to"), is_blocking=False)) is None


class TestHostIndex:
    @pytest.mark.parametrize("operation", ["aten::index.Tensor", "aten::index_put_", "aten::index"])
    def test_applies_by_the_operation(self, project: Project, operation: str) -> None:
        assert project.rule(upload(operation=operation)) == "SP203"

    def test_takes_the_conversion_of_the_index_along(self, project: Project) -> None:
        found = project.examine(
            upload(operation="aten::index"), conversion(operation="torch.Tensor.__getitem__")
        )
        assert [entry.rule for entry in found.sites] == ["SP203", "SP203"]
        assert [finding.count for finding in found.findings] == [10]

    def test_applies_to_a_subscript_that_copies(self, project: Project) -> None:
        project.write("def run(x):\n    return x[range(8), actions]\n")
        at = project.at("range")
        assert project.rule(upload(at, operation="aten::_copy_from")) == "SP203"

    def test_does_not_apply_to_a_copy_next_to_a_subscript(self, project: Project) -> None:
        project.write("def run(x):\n    return x[0].to(device)\n")
        assert project.rule(upload(project.at("x[0]"))) == "SP206"


class TestUpdateUpload:
    def test_applies_to_uploads_in_learning_with_their_conversions(self, project: Project) -> None:
        found = project.examine(upload(region="learn"), conversion(region="learn"))
        assert [entry.rule for entry in found.sites] == ["SP204", "SP204"]
        assert len(found.findings) == 1

    def test_does_not_apply_to_acting(self, project: Project) -> None:
        assert project.rule(upload(region="act"), conversion(region="act")) == "SP401"


class TestHostRandom:
    def test_applies_to_numbers_drawn_and_uploaded(self, project: Project) -> None:
        project.write("def run():\n    return torch.rand(64, 8).to(device).unsqueeze(-1)\n")
        assert project.rule(upload(project.at("rand"), region="learn")) == "SP205"

    def test_applies_through_a_name(self, project: Project) -> None:
        project.write(
            "def run():\n    taus = torch.rand(8)\n    return taus.unsqueeze(0).to(device)\n"
        )
        assert project.rule(upload(project.at(".to(device)"))) == "SP205"

    def test_does_not_apply_to_other_data(self, project: Project) -> None:
        project.write("def run(taus):\n    return taus.to(device)\n")
        assert project.rule(upload(project.at(".to(device)"))) == "SP206"


class TestStepUpload:
    def test_applies_to_an_upload_in_the_steps(self, project: Project) -> None:
        assert project.rule(upload(per_step=0.5)) == "SP206"

    def test_does_not_apply_outside_the_steps(self, project: Project) -> None:
        found = project.examine(upload(per_step=0.0, count=24))
        assert found.sites[0].rule == "SP200"
        assert found.findings == ()

    def test_does_not_apply_to_a_single_upload_when_no_steps_are_marked(
        self, project: Project
    ) -> None:
        assert project.rule(upload(count=1), steps=0) == "SP200"
        assert project.rule(upload(count=2), steps=0) == "SP206"


class TestPinnedUpload:
    def test_applies_to_pinned_memory_that_is_waited_for(self, project: Project) -> None:
        assert project.rule(upload(operation="aten::_to_copy (pinned)")) == "SP208"

    def test_does_not_apply_outside_the_steps(self, project: Project) -> None:
        pinned = upload(operation="aten::_to_copy (pinned)", per_step=0.0, count=24)
        assert project.rule(pinned) == "SP200"


class TestDecision:
    @pytest.mark.parametrize("make", [site, copy_to_host])
    def test_applies_to_reads_that_are_all_needed(self, project: Project, make) -> None:
        found = project.examine(make(per_step=1.0, needed=1.0))
        assert (found.sites[0].rule, found.sites[0].sync_class) == ("SP207", SyncClass.NEEDED)

    def test_is_never_a_finding(self, project: Project) -> None:
        assert project.examine(copy_to_host(per_step=0.8, needed=0.8)).findings == ()

    def test_does_not_apply_when_only_some_are_needed(self, project: Project) -> None:
        found = project.examine(copy_to_host(per_step=5.0, needed=1.0))
        assert (found.sites[0].rule, found.sites[0].sync_class) == ("SP201", SyncClass.AVOIDABLE)
        assert "Of 5 per step, 1 hands the decision to the environment" in found.findings[0].advice


def test_moving_a_model_is_no_finding(project: Project) -> None:
    found = project.examine(upload(entry="Module.to", count=24), steps=0)
    assert found.sites[0].rule == "SP200"
    assert found.findings == ()
