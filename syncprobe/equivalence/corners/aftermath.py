"""What a trained agent does once training is over, and whether what it handed out stays what it was.

A training loop uses a batch at once and throws it away, so memory that is written over shows nowhere in it.
Here batches, losses, actions and observations are kept, the agent goes on, and only then is anything looked at.
"""

from __future__ import annotations

import copy
import tempfile
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from syncprobe.equivalence import content
from syncprobe.equivalence.corners import seafaring
from syncprobe.targets import legacy_code

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from syncprobe.equivalence.trace import Array
    from syncprobe.targets.legacy_code import Parts

    Look = Callable[[], Array]

BATCHES: Final = {
    "AC-IQN": "legacy_marinenav.policy.updates.actor_critic:sample_continuous",
    "DDPG": "legacy_marinenav.policy.updates.actor_critic:sample_continuous",
    "SAC": "legacy_marinenav.policy.updates.sac:sample_continuous",
    "IQN": "legacy_marinenav.policy.updates.value_based:sample_discrete",
    "DQN": "legacy_marinenav.policy.updates.value_based:sample_discrete",
}
"""What makes batches for the legacy updates; Rainbow's memory does so itself."""
MANY: Final = 9
"""Robots from which on normals drawn together differ from normals drawn one by one."""


def aftermath(parts: Parts, seed: int) -> dict[str, Array]:
    """Everything that became of things that were kept, by name; the run is over afterwards."""
    _stop_watching(parts)
    legacy_code.seed_everything(seed)
    agent = parts.agent
    draw = np.random.RandomState(seed)
    states = [content.any_state(draw) for _ in range(MANY)]
    kept = _Kept()
    for turn in range(2):
        _sample(kept, agent, f"batch {turn}")
        kept.add(
            f"state tensors {turn}", agent.state_to_tensor(_batched(agent, states[turn : turn + 3]))
        )
        _decide(kept, agent, states, f"turn {turn}")
    _learn(kept, agent)
    _freeze(kept, agent)
    _train_copy(kept, agent)
    if not agent.kind.is_prioritized:  # its next states are those of later transitions
        _come_in_sight(kept, agent, states)
    _save_and_load(kept, agent, states)
    seafaring.sail_on(kept.add, parts)
    if agent.kind.is_prioritized:
        _search(kept, agent.memory)
    if agent.agent_type != "SAC":  # whether its distribution complains is up to torch's settings
        _diverge(kept, agent, states)
    if agent.device == "cpu":  # the environment knows no device
        seafaring.meet(kept.add, parts)
    found = kept.look()
    found |= {f"replay: {name}": value for name, value in content.replay_of(agent).items()}
    simulators = {"training": parts.simulator, "evaluation": parts.trainer.eval_simulator}
    return found | {f"draw: {name}": value for name, value in content.probes(simulators).items()}


class _Kept:
    """Things under a name, looked at when everything is over."""

    def __init__(self) -> None:
        self._things: list[tuple[str, Any]] = []

    def add(self, name: str, thing: Any) -> None:
        """Keep a thing as it is."""
        self._things.append((name, thing))

    def look(self) -> dict[str, Array]:
        """What they say by now."""
        return {name: value for key, thing in self._things for name, value in _flat(key, thing)}


def _flat(name: str, thing: Any) -> list[tuple[str, Array]]:
    """Arrays of a thing made of tensors, arrays, numbers and sequences of them."""
    if thing is None or isinstance(thing, str):
        return [(name, np.array(str(thing)))]
    if callable(thing):
        return _flat(name, thing())
    if isinstance(thing, dict):
        return [each for key, part in thing.items() for each in _flat(f"{name}, {key}", part)]
    if isinstance(thing, (list, tuple)):
        kinds = f"{type(thing).__name__} of {[type(part).__name__ for part in thing]}"
        parts = [each for i, part in enumerate(thing) for each in _flat(f"{name}, {i}", part)]
        return [(f"{name}, types", np.array(kinds)), *parts]
    return [(name, content.array_of(thing))]


def _stop_watching(parts: Parts) -> None:
    """Take the hooks off again: copies would take them along."""
    wrapper = getattr(parts.trainer, "policy_wrapper", None)
    for owner in (parts.agent, parts.simulator, parts.trainer, wrapper):
        for name, value in list(vars(owner).items()) if owner is not None else ():
            if getattr(value, "__module__", None) == legacy_code.__name__:
                delattr(owner, name)


def _batched(agent: Any, states: Sequence[Any]) -> Any:
    return agent.memory.state_batch(list(states))


def _sample(kept: _Kept, agent: Any, name: str) -> None:
    if agent.kind.is_prioritized:
        kept.add(name, agent.memory.sample(agent.BATCH_SIZE))
        return
    kept.add(name, tuple(legacy_code.resolve(BATCHES[agent.agent_type])(agent)))
    for _ in range(agent.BATCH_SIZE):  # many draws: some go wrong for one number in a thousand
        states, actions, rewards, next_states, dones = agent.memory.sample()
    kept.add(f"{name} as lists", lambda: [*_single(*states, actions, rewards, *next_states), dones])


def _single(*fields: Any) -> list[Array]:
    """Lists in single precision, as networks see them: patched memories round when they store."""
    return [np.array(field, dtype=np.float32) for field in fields]


def _acting(agent: Any) -> Any:
    """The network that chooses."""
    return agent.policy_local.actor if agent.kind.networks else agent.policy_local


def _decide(kept: _Kept, agent: Any, states: Sequence[Any], name: str) -> None:
    _acting(agent).eval()  # it is in training mode once it has acted, whatever it was in before
    for count in (1, 2, MANY):
        for eps, use_eval in ((0.0, True), (0.0, False), (0.5, False)):
            chosen = _choose(agent, states[:count], eps=eps, use_eval=use_eval)
            kept.add(f"{name}: {count} robots, epsilon {eps}, evaluation {use_eval}", chosen)
    kept.add(f"{name}: network in training mode", np.array(_acting(agent).training))
    if agent.agent_type in {"AC-IQN", "IQN"}:
        kept.add(f"{name}: averse to risk", _choose(agent, states, cvar=0.25))
        # One by one as well: quantiles and fractions come with the answer.
        act = getattr(agent, agent.kind.act_method)
        kept.add(f"{name}: asked alone", [act(state, cvar=0.25) for state in states[:2]])


def _choose(agent: Any, states: Sequence[Any], **options: Any) -> list[Any]:
    if hasattr(agent, "act_batch"):
        chosen: list[Any] = agent.act_batch(list(states), **options)
        return chosen
    return [agent.kind.act(agent, state, **options) for state in states]


def _learn(kept: _Kept, agent: Any) -> None:
    """Losses belong to whoever gets them: one that is changed changes nothing else."""
    for turn in range(4):
        losses = _losses(agent)
        for name, loss in losses.items():
            kept.add(f"loss {turn}, {name} is an array", np.array(isinstance(loss, np.ndarray)))
            if turn == 1:
                added = loss
                added += 1
                kept.add(f"added to in place, {name}", np.array(added is loss))
            if turn == 2:
                loss[...] = 7.0
        kept.add(f"losses {turn}", losses)
    agent.soft_update()


def _freeze(kept: _Kept, agent: Any) -> None:
    """A network that learns in parts only, after all of it has learnt."""
    network = _acting(agent)
    network.self_encoder.requires_grad_(False)
    kept.add("losses of a frozen encoder", _losses(agent))
    gradients = {name: each.grad for name, each in network.named_parameters()}
    kept.add("gradients beside a frozen encoder", gradients)
    network.self_encoder.requires_grad_(True)


def _losses(agent: Any) -> dict[str, Any]:
    losses = agent.train()
    each = losses if isinstance(losses, tuple) else (losses,)
    return dict(zip(agent.kind.losses, each, strict=True))


def _train_copy(kept: _Kept, agent: Any) -> None:
    twin = copy.deepcopy(agent)
    kept.add("first losses of the copy", _losses(twin))
    kept.add("second losses of the copy", _losses(twin))
    twin.soft_update()
    kept.add("losses after the copy", _losses(agent))
    kept.add("optimizers", content.optimizers_of(agent))
    kept.add("copied parameters", content.parameters_of(twin))
    kept.add("parameters beside the copy", content.parameters_of(agent))


def _come_in_sight(kept: _Kept, agent: Any, states: Sequence[Any]) -> None:
    """Batches of robots that saw nothing and see something now, and the other way round; small rings hold no others."""
    blind: list[Any] = [(own, []) for own, _ in states]
    seeing = [(own, [own[: content.OBJECT]]) for own, _ in states]
    action = [0.1, -0.2] if agent.kind.is_continuous else 3
    for name, before, after in (("appears", blind, seeing), ("disappears", seeing, blind)):
        for state, next_state in zip(before, after, strict=True):
            agent.kind.store(agent.memory, state, action, 0.5, next_state, False)
        kept.add(f"losses while something {name}", [_losses(agent) for _ in range(2)])
    kept.add("parameters of whoever has seen that", content.parameters_of(agent))


def _save_and_load(kept: _Kept, agent: Any, states: Sequence[Any]) -> None:
    with tempfile.TemporaryDirectory(prefix="syncprobe-") as folder:
        agent.save_latest_model(folder)
        agent.train()
        agent.load_model(folder, agent.device)
    kept.add("actions of the loaded model", _choose(agent, states[:3], use_eval=False))
    kept.add("losses of the loaded model", _losses(agent))
    kept.add("parameters of the loaded model", content.parameters_of(agent))
    kept.add("optimizers of the loaded model", content.optimizers_of(agent))


def _search(kept: _Kept, memory: Any) -> None:
    """Amounts on the border between two leaves, zeros with a sign, and what is no number."""
    tree = memory.transitions
    sums = tree.sum_tree.astype(np.float64)
    amounts = np.array([0.0, sums[1], sums[3], np.nextafter(sums[1], 9e9), np.nan, sums[0]])
    kept.add("leaves", tuple(tree.find(amounts)))
    leaves = tree.tree_start + np.arange(4)
    tree.update(leaves, np.array([-0.0, -0.0, 1.0, 2.0], dtype=np.float32))
    kept.add("sums with zeros", tree.sum_tree.copy())
    memory.update_priorities(leaves, np.array([np.nan, 1.0, 2.0, 3.0], dtype=np.float32))
    kept.add("sums that are no numbers", [tree.sum_tree.copy(), np.float32(tree.max)])


def _diverge(kept: _Kept, agent: Any, states: Sequence[Any]) -> None:
    """A policy that has learnt nonsense chooses as it always did."""
    import torch  # whoever made the agent has imported it

    with torch.no_grad():
        list(_acting(agent).parameters())[-1].view(-1)[-1] = float("nan")
    kept.add("actions of a policy that is no number", _choose(agent, states[:3], use_eval=False))
