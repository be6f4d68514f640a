"""The history of a DQN script: its first version, nine changes, and what each of them is."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

FIRST = '''"""DQN on a chain of states, as people write it."""

import random

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(1)
random.seed(1)


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 32)
        self.fc2 = nn.Linear(32, 2)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def make_state(position):
    return [position / 10, (position / 10) ** 2, 1.0, float(position > 5)]


q = QNetwork().to(device)
target = QNetwork().to(device)
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory, position, losses = [], 0, []
for step in range(40):
    state = make_state(position)
    if random.random() < 0.3:
        action = random.randrange(2)
    else:
        with torch.no_grad():
            action = int(q(torch.tensor([state]).to(device)).argmax(1).cpu()[0])
    position = max(0, min(10, position + (1 if action else -1)))
    reward = float(position == 10)
    memory.append((state, action, reward, make_state(position)))
    if len(memory) < 8:
        continue
    batch = random.sample(memory, 8)
    states = torch.tensor([row[0] for row in batch]).to(device)
    actions = torch.tensor([row[1] for row in batch]).to(device)
    rewards = torch.tensor([row[2] for row in batch]).to(device)
    nexts = torch.tensor([row[3] for row in batch]).to(device)
    values = q(states).gather(1, actions.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        expected = rewards + 0.9 * target(nexts).max(1).values
    loss = nn.functional.mse_loss(values, expected)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 10 == 9:
        target.load_state_dict(q.state_dict())
print(f"mean loss {sum(losses) / len(losses):.6f}")
'''


@dataclass(frozen=True)
class Change:
    """A commit, and what is to be said about it."""

    message: str
    old: str
    new: str
    verdict: str
    """How the summary of equivalence begins."""
    syncs: int
    """-1 if there are fewer per step, 1 if there are more, 0 if there are as many."""


SAME = "identical (all 33 optimizer steps"
HISTORY = (
    Change(
        "Explain the state",
        "def make_state(position):\n",
        'def make_state(position):\n    """Where it is, in numbers."""\n',
        SAME,
        0,
    ),
    Change("Call the network policy", "q", "policy", SAME, 0),
    Change(
        "Take the exploration rate out",
        "for step in range(40):\n",
        "epsilon = 0.3\nfor step in range(40):\n    # Explore now and then.\n",
        SAME,
        0,
    ),
    Change(
        "Read losses once",
        "losses.append(loss.item())",
        "losses.append(loss.detach())",
        SAME,
        -1,
    ),
    Change(
        "Watch the gradient",
        "    optimizer.step()\n",
        "    norm = policy.fc1.weight.grad.norm().item()\n    optimizer.step()\n",
        SAME,
        1,
    ),
    Change(
        "Write the loss out",
        "loss = nn.functional.mse_loss(values, expected)",
        "loss = ((values - expected) ** 2 * 0.1).mean() * 10",
        "equal within tolerance up to step",
        0,
    ),
    Change(
        "Make batches in a function",
        "    batch = random.sample(memory, 8)\n",
        "    sample = lambda: random.sample(memory, 8)\n    batch = sample()\n",
        SAME,
        0,
    ),
    Change("Look further ahead", "rewards + 0.9 *", "rewards + 0.99 *", "NOT identical: ", 0),
    Change(
        "Warm up with one more draw",
        "memory, position, losses = [], 0, []\n",
        "memory, position, losses = [], 0, []\nrandom.random()\n",
        "NOT identical: ",
        0,
    ),
)


def versions() -> list[str]:
    """The script after each commit, the first one included."""
    found = [FIRST]
    for change in HISTORY:
        text = found[-1]
        if change.message == "Call the network policy":
            for old, new in (("q = Q", "policy = Q"), ("q.", "policy."), ("q(", "policy(")):
                text = text.replace(old, new)
        else:
            assert change.old in text, change.message
            text = text.replace(change.old, change.new)
        found.append(text)
    return found


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


def make_repository(folder: Path, texts: list[str]) -> None:
    """A commit for each version of ``train.py``."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number, text in enumerate(texts):
        (folder / "train.py").write_text(text)
        git(folder, "add", "train.py")
        git(folder, "commit", "--quiet", "--message", f"Version {number}")
