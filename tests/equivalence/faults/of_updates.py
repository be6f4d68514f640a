"""Faults in step 5's updates, and in what updates share."""

from __future__ import annotations

from tests.equivalence.faults.fault import Fault

FAULTS = (
    Fault(
        name="gradients are clipped by a norm that is a little larger",
        module="marinenav.step5_merge.descent",
        old="(total + 1e-6)",
        new="(total + 1e-5)",
    ),
    Fault(
        name="targets forget what they were",
        module="marinenav.step5_merge.descent",
        old="torch._foreach_mul(targets, 1.0 - part)",
        new="torch._foreach_mul(targets, 0.0)",
    ),
    Fault(
        name="parameters that missed a step are counted with the others",
        module="marinenav.step5_merge.descent",
        old='counts = [float(state["step"]) for state in states]',
        new='counts = [float(states[-1]["step"])] * len(states)',
    ),
    Fault(
        name="gradients of frozen parameters stay",
        module="marinenav.step5_merge.descent",
        old="        parameter.grad = gradient\n",
        new="        parameter.grad = parameter.grad if gradient is None else gradient\n",
    ),
    Fault(
        name="gradients of another network's optimizer are not cleared",
        module="marinenav.step5_merge.descent",
        old="    if not clears_network and not is_plain:\n        optimizer.zero_grad()\n",
        new="",
    ),
    Fault(
        name="Adam's small number is added before the root",
        module="marinenav.step5_merge.descent",
        old="    denominators = torch._foreach_sqrt(squares)",
        new='    denominators = torch._foreach_sqrt(torch._foreach_add(squares, group["eps"]))',
    ),
    Fault(
        name="optimizers with a schedule are stepped behind its back",
        module="marinenav.step5_merge.descent",
        old="    if has_own or not is_own_class(",
        new="    if not is_own_class(",
        beyond_verify="ordinary agents have no schedule",
    ),
    Fault(
        name="losses of the actor through yesterday's fractions",
        module="marinenav.step5_merge.by_autograd",
        old="states, inputs.fractions[2])",
        new="states, inputs.fractions[1])",
        agent="AC-IQN",
    ),
    Fault(
        name="both forwards of SAC see the same normals",
        module="marinenav.step5_merge.by_autograd",
        old="local.actor, states, inputs.normals[1]",
        new="local.actor, states, inputs.normals[0]",
        agent="SAC",
    ),
    Fault(
        name="errors of exactly one count as large",
        module="marinenav.step5_merge.by_autograd",
        old="torch.where(sizes <= 1.0,",
        new="torch.where(sizes < 1.0,",
        agent="IQN",
        equivalent="both branches are 0.5 with slope 1 at an error of exactly one",
    ),
    Fault(
        name="the second critic learns from the first one's optimizer state",
        module="marinenav.step5_merge.by_autograd",
        old="descend(second, local.critic_2, agent.critic_2_optimizer)",
        new="descend(second, local.critic_2, agent.critic_1_optimizer)",
        agent="SAC",
    ),
    Fault(
        name="Rainbow clears gradients of its optimizer, not of its network",
        module="marinenav.step5_merge.by_autograd",
        old=", clears_network=True)",
        new=")",
        agent="Rainbow",
    ),
    Fault(
        name="targets of Rainbow keep their noise",
        module="marinenav.step5_merge.rainbow_update",
        old="    learning.renew_noise(target)\n",
        new="",
        agent="Rainbow",
    ),
    Fault(
        name="priorities are weighted losses",
        module="marinenav.step5_merge.rainbow_update",
        old="notes.reads.read(loss.detach()).numpy()",
        new="notes.reads.read((batch.weights * loss).detach()).numpy()",
        agent="Rainbow",
    ),
    Fault(
        name="mass on the lowest atom falls below it",
        module="marinenav.projection",
        old="(upper > 0) & (lower == upper)",
        new="(upper >= 0) & (lower == upper)",
        agent="Rainbow",
    ),
    Fault(
        name="mass on the highest atom is looked at twice",
        module="marinenav.projection",
        old="(lower < (agent.atoms - 1)) & (lower == upper)",
        new="(lower <= (agent.atoms - 1)) & (lower == upper)",
        agent="Rainbow",
        equivalent="on the highest atom the lower neighbour was moved down before, so they are not equal",
    ),
    Fault(
        name="deviations of SAC are not limited",
        module="marinenav.forwards",
        old="actor.min_log_std, actor.max_log_std)",
        new="actor.min_log_std, 1e9)",
        agent="SAC",
    ),
    Fault(
        name="advantages are compared with their largest",
        module="marinenav.forwards",
        old="advantage.mean(1, keepdim=True)",
        new="advantage.amax(1, keepdim=True)",
        agent="Rainbow",
    ),
    Fault(
        name="objects are not masked",
        module="marinenav.forwards",
        old=".masked_fill(seen.absent, 0.0)",
        new="",
    ),
)
