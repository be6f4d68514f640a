"""What remedies propose, and what they leave alone: text in, text out, nothing is run."""

from __future__ import annotations

import re
import textwrap

import pytest

from syncprobe.findings import RULES
from syncprobe.fixing.remedies import REMEDIES
from syncprobe.fixing.remedy import unguarded


def importing(text: str, how: str = "import torch") -> str:
    """The text below an import of torch."""
    rest = textwrap.dedent(text).replace("import torch\n", "")
    return f"{how}\n{rest}"


REFUSED = {
    "a value that is used later": (
        "unused-read",
        """
        def train():
            value = loss.item()  # <-
            return value
        """,
    ),
    "a value that other modules may use": ("unused-read", "value = loss.item()  # <-\nprint(1)"),
    "a read that somebody waits for": (
        "unused-read",
        """
        start = time.perf_counter()
        loss.item()  # <-
        print(time.perf_counter() - start)
        """,
    ),
    "a read that is all there is": ("unused-read", "for loss in losses:\n    loss.item()  # <-"),
    "a read of what is computed on the spot": ("unused-read", "step().item()  # <-\nprint(1)"),
    "a comprehension with another use of the element": (
        "element-reads",
        "x = [t.item() + t.sum() for t in row]  # <-",
    ),
    "a comprehension over two things": (
        "element-reads",
        "x = [t.item() for row in rows for t in row]  # <-",
    ),
    "a loop that uses the tensor otherwise": (
        "loop-reads",
        """
        for t in row:
            print(t.item(), t.shape)  # <-
        """,
    ),
    "a loop whose last tensor is used after it": (
        "loop-reads",
        """
        for t in row:
            print(t.item())  # <-
        t.add_(1)
        """,
    ),
    "an index into a tensor that the loop writes to": (
        "indexed-reads",
        """
        for i in range(3):
            print(x[i].item())  # <-
            x[i] = 0
        """,
    ),
    "an index into a tensor that the loop makes": (
        "indexed-reads",
        """
        for i in range(3):
            x = f(i)
            print(x[i].item())  # <-
        """,
    ),
    "an index that is bound again": (
        "index-once",
        """
        import torch
        rows = order[:2]
        x = states[rows]  # <-
        rows = order[2:]
        y = states[rows]
        """,
    ),
    "an index that is used once": (
        "index-once",
        """
        import torch
        rows = order[:2]
        x = states[rows]  # <-
        """,
    ),
    "an index that a loop counts": (
        "index-once",
        """
        import torch
        for row in range(3):
            x = states[row] + returns[row]  # <-
        """,
    ),
    "rows counted on a device already": (
        "counted-on-device",
        "import torch\nx = values[torch.arange(n, device=device), actions]  # <-",
    ),
    "rows counted for what is computed on the spot": (
        "counted-on-device",
        "import torch\nx = model(states)[torch.arange(n), actions]  # <-",
    ),
    "rows that somebody else counts": (
        "counted-on-device",
        "import torch\nx = values[rows(n), actions], values[range(*ends)]  # <-",
    ),
    "a mask that is counted, too": (
        "mask-as-index",
        """
        mask = torch.tensor(flags, device=device)
        values[mask] = 0.5 * x  # <-
        count = mask.sum()
        """,
    ),
    "a mask that the device works out": (
        "mask-as-index",
        """
        mask = rewards > 0
        values[mask] = x  # <-
        """,
    ),
    "a mask that stays on the host": (
        "mask-as-index",
        """
        mask = torch.tensor(flags)
        values[mask] = x  # <-
        """,
    ),
    "a slice": (
        "indexed-reads",
        """
        for i in range(3):
            print(x[i:].item())  # <-
        """,
    ),
    "a loss that is bound again between two reads": (
        "read-once",
        """
        print(loss.item())  # <-
        loss = update()
        print(loss.item())
        """,
    ),
    "a loss that is changed in place between two reads": (
        "read-once",
        """
        print(loss.item())  # <-
        loss.mul_(2)
        print(loss.item())
        """,
    ),
    "a parameter that a step changes between two reads": (
        "read-once",
        """
        print(model.scale.item())  # <-
        optimizer.step()
        print(model.scale.item())
        """,
    ),
    "an array that somebody may keep": (
        "read-once",
        """
        first = x.cpu().numpy()  # <-
        second = x.cpu().numpy()
        """,
    ),
    "reads of which one is made only sometimes": (
        "stacked-reads",
        """
        import torch
        print(a.item() if verbose else b.item())  # <-
        """,
    ),
    "a second value that depends on the first": (
        "stacked-reads",
        """
        import torch
        x = a.item()  # <-
        b = f(x)
        y = b.item()
        """,
    ),
    "a sum that the loop looks at": (
        "read-later",
        """
        import torch
        total = 0.0
        for step in range(9):
            total += loss.item()  # <-
            if total > 3:
                break
        """,
    ),
    "a sum that a function can see": (
        "read-later",
        """
        import torch
        total = 0.0
        def show():
            print(total)
        for step in range(9):
            total += loss.item()  # <-
        """,
    ),
    "a loss that the loop changes in place": (
        "read-later",
        """
        import torch
        losses = []
        for step in range(9):
            loss += update()
            losses.append(loss.item())  # <-
        """,
    ),
    "a list of an object": (
        "read-later",
        """
        import torch
        for step in range(9):
            self.losses.append(loss.item())  # <-
        """,
    ),
    "a value that is used after the condition, too": (
        "read-when-needed",
        """
        for step in range(9):
            value = loss.item()  # <-
            if step % 3 == 0:
                print(value)
            history.append(value)
        """,
    ),
    "a text of which a part changes before it is printed": (
        "read-when-needed",
        """
        for step in range(9):
            text = f"{count} {loss.item()} {error.item()}"  # <-
            count += 1
            if step % 3 == 0:
                print(text)
        """,
    ),
    "a cast of something that is no tensor made here": (
        "as-tensor",
        "x = torch.from_numpy(states).float().to(device)  # <-",
    ),
    "a typed tensor that is cast again": (
        "as-tensor",
        "x = torch.LongTensor(states).float().to(device)  # <-",
    ),
    "a value that the condition itself asks for": (
        "read-when-needed",
        """
        for step in range(9):
            value = loss.item()  # <-
            if value > 3:
                print(value)
        """,
    ),
    "a condition whose second part calls something": (
        "cheap-test-first",
        """
        if loss > 3 and next(steps) % 3 == 0:  # <-
            pass
        """,
    ),
    "several numbers": ("filled-scalar", "x = torch.tensor([a, b], device=device)  # <-"),
    "a number that stays on the host": ("filled-scalar", "x = torch.tensor(a)  # <-"),
    "draws of the host": ("made-on-device", "x = torch.rand(3).to(device)  # <-"),
    "a copy that names a dtype too": (
        "made-on-device",
        "x = torch.zeros(3).to(device, torch.float64)  # <-",
    ),
    "an index that depends on the turn": (
        "made-once",
        """
        for i in range(3):
            index = torch.tensor([0, i], device=device)  # <-
        """,
    ),
    "a constant that the loop writes to": (
        "made-once",
        """
        for i in range(3):
            total = torch.full((3,), 0.0, device=device)  # <-
            total += 1
        """,
    ),
    "a constant made of a draw": (
        "made-once",
        """
        for i in range(3):
            index = torch.tensor([random.random()], device=device)  # <-
        """,
    ),
    "a class of another library": ("no-validation", "x = Normal(mean, std)  # <-"),
    "a distribution that says what it wants": (
        "no-validation",
        """
        from torch.distributions import Normal
        x = Normal(mean, std, validate_args=True)  # <-
        """,
    ),
    "a sample that something else uses at once": (
        "reparametrised",
        """
        import torch
        x = f(policy.sample())  # <-
        """,
    ),
    "a loader that comes from elsewhere": (
        "pinned-batches",
        """
        for x in loader:
            x = x.to(device)  # <-
        """,
    ),
    "uploads to different devices": (
        "packed-uploads",
        """
        a = torch.tensor(x).to(one)  # <-
        b = torch.tensor(y).to(other)
        """,
    ),
    "an upload of what the first one gave": (
        "packed-uploads",
        """
        a = torch.tensor(x).to(device)  # <-
        y = f(a)
        b = torch.tensor(y).to(device)
        """,
    ),
    "gradients that are dropped already": ("grads-to-none", "optimizer.zero_grad()  # <-"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_remedies_leave_alone_what_they_are_not_for(name: str, proposals) -> None:
    remedy, text = REFUSED[name]
    assert proposals(remedy, importing(text)) == []


@pytest.mark.parametrize("line", ["", "import torch.nn as nn", "from torch import nn"])
def test_nothing_is_stacked_in_a_file_that_does_not_import_torch(line, proposals) -> None:
    assert proposals("stacked-reads", f"{line}\nprint(a.item(), b.item())  # <-") == []


ACCEPTED = {
    "list of tensors": (
        "element-reads",
        "import torch\nx = [t.item() for t in losses]  # <-\n",
        "import torch\nx = torch.stack(losses).tolist()  # <-\n",
    ),
    "range over an index": (
        "element-reads",
        "x = [row[i].item() for i in range(len(row))]  # <-\n",
        "x = row.tolist()  # <-\n",
    ),
    "part of a range": (
        "element-reads",
        "x = [row[i].item() for i in range(n)]  # <-\n",
        "x = row[:n].tolist()  # <-\n",
    ),
    "comments and spaces stay": (
        "read-when-needed",
        """\
for i in range(9):
    # the loss
    value = loss.item()  # <-
    if i % 3 == 0:
        # now and then
        print( value )
""",
        """\
for i in range(9):
    if i % 3 == 0:
        # now and then
        value = loss.item()  # <-
        print( value )
""",
    ),
    "array read twice": (
        "read-once",
        "a = x.cpu().numpy()[0] + x.cpu().numpy()[1]  # <-\n",
        "cpu_value = x.cpu().numpy()\na = cpu_value[0] + cpu_value[1]  # <-\n",
    ),
    "loader": (
        "pinned-batches",
        "loader = DataLoader(data, batch_size=4)\nfor x, y in loader:\n    x, y = x.to(device), y.to(device)  # <-\n",
        """\
loader = DataLoader(data, batch_size=4, pin_memory=True)
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)  # <-
""",
    ),
    "scalars in a list": (
        "stacked-scalars",
        "x = torch.tensor(values, device=device)  # <-\n",
        "x = torch.stack(values).detach()  # <-\n",
    ),
    "array with a dtype": (
        "as-tensor",
        "x = torch.FloatTensor(states).to(device)  # <-\n",
        "x = torch.as_tensor(states, dtype=torch.float32, device=device)  # <-\n",
    ),
    "array with another dtype": (
        "as-tensor",
        "x = torch.LongTensor(actions).to(device)  # <-\n",
        "x = torch.as_tensor(actions, dtype=torch.int64, device=device)  # <-\n",
    ),
    "array with another cast": (
        "as-tensor",
        "x = torch.tensor(actions).long().to(device)  # <-\n",
        "x = torch.as_tensor(actions, dtype=torch.int64, device=device)  # <-\n",
    ),
    "text for every third line": (
        "read-when-needed",
        """\
for i in range(9):
    text = f"{i}: {loss.item():.3f} {error.item()}"  # <-
    if i % 3 == 0:
        print(text)
""",
        """\
for i in range(9):
    if i % 3 == 0:
        text = f"{i}: {loss.item():.3f} {error.item()}"  # <-
        print(text)
""",
    ),
    "a mask of the host": (
        "mask-as-index",
        """\
mask = torch.tensor([s is not None for s in batch], device=device, dtype=torch.bool)
values[mask] = target(nexts)  # <-
""",
        """\
mask = torch.tensor([s is not None for s in batch], dtype=torch.bool).nonzero().flatten().to(device)
values[mask] = target(nexts)  # <-
""",
    ),
    "a mask that is uploaded": (
        "mask-as-index",
        """\
mask = torch.BoolTensor(flags).to(device)
x = values[mask] + others[mask]  # <-
""",
        """\
mask = torch.BoolTensor(flags).nonzero().flatten().to(device)
x = values[mask] + others[mask]  # <-
""",
    ),
    "an index of several tensors": (
        "index-once",
        """\
import torch
for start in range(0, 8, 2):
    rows = order[start:start + 2]
    with torch.no_grad():
        x = states[rows]  # <-
    y = returns.long()[rows] - x
""",
        """\
import torch
for start in range(0, 8, 2):
    rows = torch.as_tensor(order[start:start + 2], device=states.device)
    with torch.no_grad():
        x = states[rows]  # <-
    y = returns.long()[rows] - x
""",
    ),
    "rows that the host counts": (
        "counted-on-device",
        """\
import torch
x = values[torch.arange(n), actions] + self.values[range(1, n), 0]  # <-
y = values[list(range(n)), actions], rows[np.arange(n)]  # not this line
""",
        """\
import torch
x = values[torch.arange(n, device=values.device), actions] + self.values[torch.arange(1, n, device=self.values.device), 0]  # <-
y = values[list(range(n)), actions], rows[np.arange(n)]  # not this line
""",
    ),
    "rows that the host counts in other words": (
        "counted-on-device",
        """\
import torch
y = values[list(range(n)), actions], rows[np.arange(n)]  # <-
""",
        """\
import torch
y = values[torch.arange(n, device=values.device), actions], rows[torch.arange(n, device=rows.device)]  # <-
""",
    ),
    "an index that is counted, too": (
        "index-once",
        """\
import torch
rows = order[:2]
x = states[rows]  # <-
y = returns[rows] / len(rows)
""",
        """\
import torch
rows = order[:2]
rows_uploaded = torch.as_tensor(rows, device=states.device)
x = states[rows_uploaded]  # <-
y = returns[rows_uploaded] / len(rows)
""",
    ),
    "uploads of a tuple that are made alike": (
        "packed-uploads",
        """\
a = torch.tensor(reward).to(device)
b, c = torch.Tensor(state).to(device), torch.Tensor(done).to(device)  # <-
""",
        """\
a = torch.tensor(reward).to(device)
state_rows = [torch.Tensor(state), torch.Tensor(done)]
state_uploaded = torch.cat([each.flatten() for each in state_rows]).to(device)
state_uploaded = state_uploaded.split([each.numel() for each in state_rows])
b, c = state_uploaded[0].view(state_rows[0].shape), state_uploaded[1].view(state_rows[1].shape)  # <-
""",
    ),
    "a sum that nobody looks at after the loop": (
        "read-later",
        """\
import torch
def train():
    total = 0.0
    for step in range(9):
        total += loss.item()  # <-
        if step % 3 == 2:
            print(total)
""",
        """\
import torch
def train():
    total = 0.0
    loss_reads = []
    for step in range(9):
        loss_reads.append(loss.detach())  # <-
        if step % 3 == 2:
            for loss_value in torch.stack(loss_reads).tolist():
                total += loss_value
            loss_reads.clear()
            print(total)
""",
    ),
    "uploads that are cast alike": (
        "packed-uploads",
        """\
a = torch.tensor(actions).unsqueeze(-1).to(device)
b = torch.tensor(rewards).unsqueeze(-1).float().to(device)  # <-
c = torch.tensor(dones).float().to(device)
""",
        """\
a = torch.tensor(actions).unsqueeze(-1).to(device)
rewards_rows = [
    torch.tensor(rewards).unsqueeze(-1).float(),
    torch.tensor(dones).float(),
]
rewards_uploaded = torch.cat([each.flatten() for each in rewards_rows]).to(device)
rewards_uploaded = rewards_uploaded.split([each.numel() for each in rewards_rows])
b = rewards_uploaded[0].view(rewards_rows[0].shape)  # <-
c = rewards_uploaded[1].view(rewards_rows[1].shape)
""",
    ),
    "gradients": (
        "grads-to-none",
        "optimizer.zero_grad(set_to_none=False)  # <-\n",
        "optimizer.zero_grad()  # <-\n",
    ),
    "a sample under no_grad of its own": (
        "reparametrised",
        "import torch\naction = policy.sample()  # <-\n",
        "import torch\nwith torch.no_grad():\n    action = policy.rsample()  # <-\n",
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_remedies_write_what_their_documentation_shows(name: str, proposals) -> None:
    remedy, *texts = ACCEPTED[name]
    before, after = map(importing, texts)
    assert after in [unguarded(each) for each in proposals(remedy, before)]


@pytest.mark.parametrize("name", [name for name in ACCEPTED if "torch" in ACCEPTED[name][1]])
def test_torch_may_have_another_name(name: str, proposals) -> None:
    remedy, *texts = ACCEPTED[name]
    before, after = (
        re.sub(r"(?<!import )\btorch\b", "th", importing(text, "import torch as th"))
        for text in texts
    )
    assert after in [unguarded(each) for each in proposals(remedy, before)]


@pytest.mark.parametrize("name", list(REMEDIES))
def test_every_remedy_cures_known_rules_and_shows_before_and_after(name: str) -> None:
    remedy = REMEDIES[name]
    assert remedy.cures
    assert remedy.cures <= set(RULES)
    assert "Before: ``" in (remedy.propose.__doc__ or "")
    assert "after:" in (remedy.propose.__doc__ or "")


def test_no_remedy_touches_a_line_that_has_nothing_to_cure(proposals) -> None:
    text = "import torch\nfor step in range(3):\n    x = model(batch)  # <-\n    x.backward()\n"
    assert [name for name in REMEDIES if proposals(name, text)] == []
