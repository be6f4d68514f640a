"""The training loop: episode by episode a box is filled, then both networks learn."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from syncprobe.workloads.packing.box import Box, Metrics
from syncprobe.workloads.packing.catalogue import catalogue, combinations, scaled
from syncprobe.workloads.packing.items import Items
from syncprobe.workloads.packing.manager import Manager
from syncprobe.workloads.packing.replay import Learner, Memory
from syncprobe.workloads.packing.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.workloads.packing.box import Placed, Placement
    from syncprobe.workloads.packing.config import PackingOptions
    from syncprobe.workloads.packing.worker import Candidates

RULES: Final = ("largest", "smallest", "random", "flattest")
"""How objects are picked while the manager does not."""


@dataclass(frozen=True, eq=False, kw_only=True)
class StepRecord:
    """One step, for whoever looks on; what is on the device stays there."""

    episode: int
    step: int
    placement: Placement
    placed: Placed
    reward: Any
    ahead: Any
    is_done: bool


@dataclass(frozen=True, kw_only=True)
class EpisodeRecord:
    """What came of an episode."""

    episode: int
    is_joint: bool
    reward: float
    packed: int
    metrics: Metrics
    chance: float
    worker_losses: list[float]
    manager_losses: list[float]
    seconds: float

    def line(self) -> str:
        """For a log."""
        means = [float(np.mean(each)) if each else float("nan") for each in self.losses]
        return (
            f"episode {self.episode} {'joint' if self.is_joint else 'worker'} "
            f"reward {self.reward:.4f} packed {self.packed} C {self.metrics.compactness:.4f} "
            f"P {self.metrics.pyramidality:.4f} eps {self.chance:.3f} worker loss {means[0]:.5f} "
            f"manager loss {means[1]:.5f} {self.seconds:.1f} s"
        )

    @property
    def losses(self) -> tuple[list[float], list[float]]:
        """Of the worker and of the manager, update by update."""
        return self.worker_losses, self.manager_losses


@dataclass(kw_only=True)
class Episode:
    """An episode while it goes on."""

    number: int
    is_joint: bool
    chance: float
    unpacked: list[int]
    ready: Candidates | None = None
    """What was found for the next object while looking ahead."""
    rewards: list[Any]


class Trainer:
    """Objects, a box, two networks that decide and what they learn."""

    def __init__(self, options: PackingOptions, seed: int, device: str) -> None:
        self.options = options
        self.device = torch.device(device)
        self.items = Items(options, self.device)
        self.box = Box(options, self.items)
        self.manager = Manager(options, self.items, self.box)
        self.worker = Worker(options, self.items, self.box)
        self.worker_learner = Learner(self.worker.online, options, self.device)
        self.manager_learner = Learner(self.manager.online, options, self.device)
        self.generator = np.random.default_rng(seed)
        self.pool = combinations(seed, options.pool_size, options.num_objects)
        self.joint_episodes = 0
        self.log: list[EpisodeRecord] = []

    def run(self) -> Iterator[StepRecord]:
        """Train, handing out every step once it is done."""
        for number in range(self.options.episodes):
            yield from self.run_episode(number)

    def run_episode(self, number: int) -> Iterator[StepRecord]:
        """Steps until nothing is left, nothing fits, or there have been enough of them; then learning."""
        started = time.perf_counter()
        episode = self.begin(number)
        for step in range(self.options.max_steps):
            record = self.step(episode, step)
            if record is None:
                break
            if record.is_done:
                self.finish(episode, started)
                yield record
                return
            yield record
        self.finish(episode, started)

    def begin(self, number: int) -> Episode:
        """Empty the box and lay out the objects."""
        drawn = self.pool[number % len(self.pool)]
        scales = self.generator.uniform(0.8, 1.2, len(drawn))
        side, shapes = self.options.side, catalogue()
        pairs = zip(drawn, scales, strict=True)
        self.items.begin([scaled(shapes[each], scale, side) for each, scale in pairs])
        self.box.begin()
        is_joint = self.options.is_joint(number)
        if is_joint:
            self.worker_learner.slow_down()
            self.manager_learner.slow_down()
        return Episode(
            number=number,
            is_joint=is_joint,
            chance=self.options.chance(number),
            unpacked=list(range(len(drawn))),
            rewards=[],
        )

    def step(self, episode: Episode, step: int) -> StepRecord | None:
        """Pack one object; None if there is no room for it, or nothing left."""
        if not episode.unpacked:
            return None
        number, seen = self.pick(episode)
        placement = self.decide(episode, number)
        if placement is None:
            return None
        placed, reward = self.place(placement)
        episode.unpacked.remove(number)
        is_done = not episode.unpacked or step + 1 == self.options.max_steps
        worker_ahead, manager_ahead = self.look_ahead(episode, is_done)
        self.remember(placement, placed, reward, worker_ahead, is_done)
        if seen is not None:
            self.remember_pick(seen, reward, manager_ahead, is_done)
        episode.rewards.append(reward)
        return StepRecord(
            episode=episode.number,
            step=step,
            placement=placement,
            placed=placed,
            reward=reward,
            ahead=worker_ahead,
            is_done=is_done,
        )

    def pick(self, episode: Episode) -> tuple[int, Any]:
        """The next object; what the manager saw of it, if it was the manager's choice."""
        if not episode.is_joint:
            rule = self.generator.choice(RULES)
            return self.pick_by_rule(episode.unpacked, rule), None
        numbers, seen, values = self.manager.assess(episode.unpacked)
        if self.generator.random() < episode.chance:
            place = int(self.generator.integers(0, len(numbers)))
        else:
            place = int(np.argmax(values))
        return numbers[place], self.manager.row(seen, place)

    def pick_by_rule(self, unpacked: list[int], rule: str) -> int:
        """The next object while the manager does not pick."""
        objects = self.items.objects
        if rule == "random":
            return int(self.generator.choice(unpacked))
        if rule == "flattest":
            return min(unpacked, key=lambda each: (objects[each].flatness, each))
        extreme = max if rule == "largest" else min
        return extreme(unpacked, key=lambda each: (objects[each].bounding_volume, each))

    def decide(self, episode: Episode, number: int) -> Placement | None:
        """Where the object goes; None if there is no room."""
        found, episode.ready = episode.ready, None
        if found is None or found.number != number:
            found = self.worker.candidates(number)
        return self.worker.select(found, self.generator, episode.chance)

    def place(self, placement: Placement) -> tuple[Placed, Any]:
        """Put it there; where it went, and what that was worth."""
        placed = self.box.place(placement)
        return placed, self.box.reward(placement.number)

    def look_ahead(self, episode: Episode, is_done: bool) -> tuple[Any, Any]:
        """What is to be had next, as the worker and as the manager sees it."""
        if is_done:
            return 0.0, 0.0
        value: Any = 0.0
        if episode.is_joint:
            ahead = self.manager.ahead(episode.unpacked)
            number, value = ahead.number, ahead.value
        else:
            number = self.pick_by_rule(episode.unpacked, "largest")
        episode.ready = self.worker.candidates(number)
        return self.worker.ahead(episode.ready), value

    def remember(
        self, placement: Placement, placed: Placed, reward: Any, ahead: Any, is_done: bool
    ) -> None:
        """Keep what the worker did."""
        self.worker_learner.remember(
            Memory(
                maps=placement.maps.cpu().numpy(),
                scalars=self.worker.scalars(placement, placed),
                reward=reward,
                ahead=ahead,
                is_done=is_done,
            )
        )

    def remember_pick(self, seen: Any, reward: Any, ahead: Any, is_done: bool) -> None:
        """Keep what the manager did."""
        maps, scalars = seen
        self.manager_learner.remember(
            Memory(maps=maps, scalars=scalars, reward=reward, ahead=ahead, is_done=is_done)
        )

    def finish(self, episode: Episode, started: float) -> None:
        """Learn, and write down what came of the episode."""
        losses = self.learn(episode)
        if (episode.number + 1) % self.options.follow_every == 0:
            self.worker.follow()
            self.manager.follow()
        rewards, worker_losses, manager_losses, metrics = self.read(
            episode.rewards, *losses, list(self.box.metrics)
        )
        self.log.append(
            EpisodeRecord(
                episode=episode.number,
                is_joint=episode.is_joint,
                reward=sum(rewards),
                packed=len(rewards),
                metrics=Metrics(*metrics),
                chance=episode.chance,
                worker_losses=worker_losses,
                manager_losses=manager_losses,
                seconds=time.perf_counter() - started,
            )
        )

    def read(self, *values: list[Any]) -> tuple[list[float], ...]:
        """What the log needs of an episode, on the host."""
        return tuple([float(each) for each in group] for group in values)

    def learn(self, episode: Episode) -> tuple[list[Any], list[Any]]:
        """Let the worker learn after every episode, the manager after every few joint ones."""
        manager: list[Any] = []
        worker = list(self.worker_learner.learn())
        if episode.is_joint:
            if self.joint_episodes % self.options.manager_every == 0:
                manager = list(self.manager_learner.learn())
            self.joint_episodes += 1
        return worker, manager


def seeded_trainer(options: PackingOptions, seed: int, device: str) -> Trainer:
    """Seed the three global generators, then build everything."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # what is remembered is drawn by the legacy generator
    torch.manual_seed(seed)
    return Trainer(options, seed, device)
