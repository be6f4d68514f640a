from __future__ import annotations

from tests.findings.conftest import Project, launch

ROBOTS = """
    class Policy:
        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x.relu()

    class Trainer:
        def act(self, state):
            return self.policy(state)

        def step_training(self, states):
            actions = [self.act(state) for state in states]
            return actions

        def learn(self):
            while True:
                actions = self.step_training(states)
                states = environment.step(actions)
"""


def _in_forward(project: Project, text: str, *, in_loop: bool = True, **fields):
    frames = [
        project.at("self.policy(state)", "Trainer.act"),
        project.at("[self.act(state)", "Trainer.step_training.<locals>.<listcomp>"),
        project.at("= self.step_training(", "Trainer.learn"),
    ]
    if not in_loop:
        frames = [frames[0], frames[2]]
    return launch(project.at(text, "Policy.forward"), callers=frames, **fields)


class TestSingleForwards:
    def test_applies_to_a_loop_over_samples_and_is_reported_there(self, project: Project) -> None:
        project.write(ROBOTS)
        found = project.examine(
            _in_forward(project, "x = layer(x)", per_step=15.0, cost=75.0),
            _in_forward(project, "x.relu()", per_step=5.0, cost=25.0, operation="aten::relu"),
        )
        assert [entry.rule for entry in found.sites] == ["SP501", "SP501"]
        (finding,) = found.findings
        assert finding.site.line == project.at("[self.act(state)").line
        assert (finding.per_step, finding.cost_us_modelled) == (20.0, 100.0)

    def test_a_loop_over_layers_is_no_loop_over_samples(self, project: Project) -> None:
        project.write(ROBOTS)
        once = _in_forward(project, "x = layer(x)", in_loop=False, per_step=3.0)
        assert project.rule(once) is None

    def test_a_loop_over_networks_in_a_forward_is_no_loop_over_samples(
        self, project: Project
    ) -> None:
        project.write("def forward(x):\n    return [net(x) for net in networks]\n")
        at = project.at("net(x)", "Critic.forward.<locals>.<listcomp>")
        assert project.rule(launch(at, per_step=2.0)) is None

    def test_a_wrapper_may_loop_over_samples_in_its_forward(self, project: Project) -> None:
        project.write("""
            class Network:
                def forward(self, x):
                    return weights @ x

            class Agent:
                def act(self, state):
                    return self.network(state)

            class Wrapper:
                def forward(self, observation):
                    for row in range(len(observation)):
                        actions.append(self.agent.act(observation[row]))
        """)
        found = project.examine(
            launch(
                project.at("weights @", "Network.forward"),
                per_step=5.0,
                callers=[
                    project.at("self.network(state)", "Agent.act"),
                    project.at("self.agent.act(", "Wrapper.forward"),
                ],
            )
        )
        assert [(finding.rule, finding.site.function) for finding in found.findings] == [
            ("SP501", "Wrapper.forward")
        ]

    def test_does_not_apply_to_learning(self, project: Project) -> None:
        project.write(ROBOTS)
        assert project.rule(_in_forward(project, "x.relu()", per_step=3.0, region="learn")) is None

    def test_does_not_apply_without_source(self, project: Project) -> None:
        assert project.rule(launch(per_step=15.0)) is None


class TestTinyLaunches:
    PROGRAM = """
        def run(values):
            for row in range(8):
                values[row].mul_(scale)
            total = values.sum()
    """

    def test_applies_to_small_operations_in_a_loop(self, project: Project) -> None:
        project.write(self.PROGRAM)
        at = project.at("mul_")
        found = project.examine(launch(at, operation="aten::mul_", per_step=8.0, nbytes=80 * 400))
        assert [(finding.rule, finding.site.line) for finding in found.findings] == [
            ("SP502", project.at("for row").line)
        ]

    def test_does_not_apply_to_large_operations(self, project: Project) -> None:
        project.write(self.PROGRAM)
        large = launch(project.at("mul_"), operation="aten::mul_", per_step=8.0, nbytes=80 * 10**6)
        assert project.rule(large) is None

    def test_does_not_apply_outside_loops(self, project: Project) -> None:
        project.write(self.PROGRAM)
        assert project.rule(launch(project.at("sum"), operation="aten::sum", per_step=8.0)) is None


class TestParameterLoop:
    PROGRAM = """
        def soft_update(target_net, local_net):
            for target, local in zip(target_net.parameters(), local_net.parameters()):
                target.data.copy_(tau * local.data)
            for row in rows:
                row.copy_(other)
            for given in params:
                given.mul_(1 - tau)
    """

    def test_applies(self, project: Project) -> None:
        project.write(self.PROGRAM)
        at = project.at("target.data.copy_", "soft_update")
        assert project.rule(launch(at, operation="aten::mul", region="learn")) == "SP503"

    def test_applies_to_a_list_of_parameters(self, project: Project) -> None:
        project.write(self.PROGRAM)
        at = project.at("given.mul_", "soft_update")
        assert project.rule(launch(at, operation="aten::mul_", region="learn")) == "SP503"

    def test_does_not_apply_to_other_loops(self, project: Project) -> None:
        project.write(self.PROGRAM)
        at = project.at("row.copy_", "soft_update")
        assert project.rule(launch(at, operation="aten::copy_", region="learn")) is None


class TestOptimizerLaunches:
    ENTRY = "Optimizer.profile_hook_step.<locals>.wrapper"

    def test_applies_to_many_operations(self, project: Project) -> None:
        parts = [
            launch(operation=f"aten::_foreach_{name}", entry=self.ENTRY, per_step=0.25)
            for name in "abcdefghijkl"
        ]
        found = project.examine(*parts)
        assert {entry.rule for entry in found.sites} == {"SP504"}
        assert [finding.per_step for finding in found.findings] == [3.0]

    def test_what_makes_the_moments_is_no_part_of_each_step(self, project: Project) -> None:
        found = project.examine(
            launch(operation="aten::clone", entry=self.ENTRY, per_step=0.8),
            launch(operation="aten::_foreach_add_", entry=self.ENTRY, per_step=0.1),
        )
        assert {entry.rule for entry in found.sites} == {None}

    def test_does_not_apply_to_a_fused_step(self, project: Project) -> None:
        fused = launch(operation="aten::_fused_adam_", entry=self.ENTRY, per_step=0.25)
        assert project.rule(fused) is None
