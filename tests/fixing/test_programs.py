"""Small programs as people write them: what is kept, what is rejected, and how many syncs are left."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

import pytest

from syncprobe.fixing.outcome import total_syncs
from syncprobe.fixing.remedy import unguarded
from tests.fixing.conftest import HEAD, NAME, Workshop

SETUP = 2
"""The network's two parameters are uploaded once."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A program and what fixing it must give."""

    body: str
    kept: tuple[str, ...]
    syncs: tuple[int, int]
    """Of the training loop and what follows it, before and after."""
    holds: tuple[str, ...] = ()
    """Lines of the result."""
    rejected: tuple[str, ...] = field(default=())


CASES = {
    "reads_in_a_comprehension": Case(
        body="""
        for step in range(4):
            update()
            row = model.weight.detach()[0]
            values = [t.item() for t in row]
            print(max(abs(t.item()) for t in row), values)
        """,
        kept=("element-reads", "element-reads"),
        syncs=(32, 8),
        holds=("values = row.tolist()", "print(max(abs(t) for t in row.tolist()), values)"),
    ),
    "reads_in_a_loop": Case(
        body="""
        for step in range(4):
            update()
            total = 0.0
            for number, value in enumerate(model.bias.detach()):
                total += number * value.item()
            print(total)
        """,
        kept=("loop-reads",),
        syncs=(12, 4),
        holds=("for number, value in enumerate(model.bias.detach().tolist()):",),
    ),
    "reads_by_index": Case(
        body="""
        for step in range(4):
            update()
            table = model.weight.detach()
            for i in range(3):
                for j in range(4):
                    if table[i, j].item() > 0.4:
                        print(step, i, j)
        """,
        kept=("indexed-reads",),
        syncs=(48, 4),
        holds=("table_values = table.tolist()", "if table_values[i][j] > 0.4:"),
    ),
    "running_loss": Case(
        body="""
        running = 0.0
        for step in range(12):
            loss = update()
            running += loss.item()
            if step % 4 == 3:
                print(step, running / 4)
                running = 0.0
        """,
        kept=("read-later",),
        syncs=(12, 3),
        holds=("loss_reads.append(loss.detach())", "loss_reads.clear()"),
    ),
    "list_of_losses": Case(
        body="""
        losses = []
        for step in range(6):
            loss = update()
            losses.append(loss.item())
        print(sum(losses))
        """,
        kept=("read-later",),
        syncs=(6, 1),
        holds=("losses += torch.stack(loss_reads).tolist()",),
    ),
    "same_loss_twice": Case(
        body="""
        for step in range(4):
            loss = update()
            print(step, loss.item())
            print("loss", f"{loss.item():.4f}")
        """,
        kept=("read-once",),
        syncs=(8, 4),
        holds=("loss_value = loss.item()", 'print("loss", f"{loss_value:.4f}")'),
    ),
    "several_metrics": Case(
        body="""
        for step in range(4):
            loss = update()
            size = model.weight.abs().mean()
            print(step, loss.item(), size.item())
        """,
        kept=("stacked-reads",),
        syncs=(8, 4),
        holds=("loss_value, size_value = torch.stack([loss, size]).tolist()",),
    ),
    "read_for_every_fourth_line": Case(
        body="""
        for step in range(8):
            loss = update()
            value = loss.item()
            if step % 4 == 0:
                print(step, value)
        """,
        kept=("read-when-needed",),
        syncs=(8, 2),
        holds=("        value = loss.item()",),
    ),
    "dear_test_first": Case(
        body="""
        for step in range(8):
            loss = update()
            if loss > 0.01 and step % 4 == 0:
                print("still high", step)
        """,
        kept=("cheap-test-first",),
        syncs=(8, 2),
        holds=("    if step % 4 == 0 and loss > 0.01:",),
    ),
    "reward_as_a_tensor": Case(
        body="""
        for step in range(4):
            reward = torch.tensor([step * 0.5], device=device)
            loss = update() * reward
        print(loss.tolist())
        """,
        kept=("filled-scalar",),
        syncs=(5, 1),
        holds=("reward = torch.full((1,), step * 0.5, device=device)",),
    ),
    "zeros_from_the_host": Case(
        body="""
        for step in range(4):
            hidden = torch.zeros(step + 1, 3).to(device)
            hidden += update()
        print(hidden.tolist())
        """,
        kept=("made-on-device",),
        syncs=(5, 1),
        holds=("hidden = torch.zeros(step + 1, 3, device=device)",),
    ),
    "index_made_in_every_step": Case(
        body="""
        for step in range(4):
            order = torch.tensor([2, 0, 1], device=device)
            update()
            chosen = model.bias.detach()[order]
        print(chosen.tolist())
        """,
        kept=("made-once",),
        syncs=(5, 2),
        holds=("order_kept = torch.tensor([2, 0, 1], device=device)",),
    ),
    "batch_of_lists": Case(
        body="""
        for step in range(4):
            states, rewards = [[step, 1.0], [2.0, step]], [1.0, step]
            state_batch = torch.tensor(states).float().to(device)
            reward_batch = torch.tensor(rewards).unsqueeze(-1).float().to(device)
            loss = update() * (state_batch + reward_batch).sum()
        print(loss.item())
        """,
        kept=("packed-uploads",),
        syncs=(9, 5),
    ),
    "validated_policy": Case(
        body="""
        from torch.distributions import Normal

        for step in range(4):
            update()
            mean = model(torch.ones(2, 4, device=device))
            policy = Normal(mean, torch.ones_like(mean))
            with torch.no_grad():
                action = policy.sample()
        print(action.sum().item())
        """,
        kept=("no-validation", "reparametrised"),
        syncs=(13, 1),
        holds=("policy = Normal(mean, torch.ones_like(mean), validate_args=False)",),
    ),
    "shuffled_minibatches": Case(
        body="""
        import numpy
        states = torch.arange(32.0, device=device).view(8, 4)
        weights = torch.ones(8, device=device)
        order = numpy.arange(8)
        for start in range(0, 8, 4):
            rows = order[start : start + 4]
            loss = (model(states[rows]).sum(1) * weights[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
        kept=("index-once",),
        syncs=(4, 2),
        holds=("rows = torch.as_tensor(order[start : start + 4], device=states.device)",),
    ),
    "values_of_chosen_actions": Case(
        body="""
        for step in range(4):
            values = model(torch.ones(5, 4, device=device))
            actions = values.argmax(1)
            loss = values[torch.arange(len(values)), actions].pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
        kept=("counted-on-device",),
        syncs=(8, 0),
        holds=("values[torch.arange(len(values), device=values.device), actions]",),
    ),
    "states_that_are_not_final": Case(
        body="""
        for step in range(4):
            nexts = [[1.0, 2.0, 3.0, 4.0], None, [0.0, 1.0, 0.0, 1.0], None]
            is_open = torch.tensor([row is not None for row in nexts], device=device, dtype=torch.bool)
            rows = torch.tensor([row for row in nexts if row is not None], device=device)
            values = torch.zeros(4, device=device)
            with torch.no_grad():
                values[is_open] = model(rows).max(1).values
            loss = (model(torch.ones(4, 4, device=device)).mean(1) - values).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
        kept=("mask-as-index",),
        syncs=(12, 8),
        holds=(".nonzero().flatten().to(device)",),
    ),
    "text_for_every_fourth_line": Case(
        body="""
        for step in range(8):
            loss = update()
            size = model.weight.detach().abs().sum()
            text = f"{step}: loss {loss.item():.4f}, size {size.item():.4f}"
            if step % 4 == 0:
                print(text)
        """,
        kept=("read-when-needed", "stacked-reads"),
        syncs=(16, 2),
    ),
    "values_that_nobody_uses": Case(
        body="""
        def train():
            loss = update()
            last = loss.detach().cpu().numpy()
            return loss


        for step in range(4):
            loss = train()
            loss.item()
        """,
        kept=("unused-read", "unused-read"),
        syncs=(8, 0),
        holds=("loss = update()\n    return loss\n", "    loss = train()\n"),
    ),
    "list_that_grows": Case(
        body="""
        fractions = []
        for _ in range(2):
            for _ in range(3):
                loss = update()
                with torch.no_grad():
                    fractions += [(loss > 0.5).float().mean().item()]
        print(sum(fractions))
        """,
        kept=("read-later",),
        syncs=(6, 2),
        holds=("fractions += torch.stack(fractions_reads).tolist()",),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_programs_are_fixed_and_stay_what_they_are(case: Case, workshop: Workshop) -> None:
    text = HEAD.lstrip() + textwrap.dedent(case.body).lstrip()
    search = workshop.search(text)
    assert sorted(each.remedy for each in search.kept) == sorted(case.kept), search.rejected
    assert set(case.rejected) <= {each.remedy for each in search.rejected}
    final = unguarded(search.texts[NAME])
    for line in case.holds:
        assert line in final, final
    assert "__syncprobe" not in final
    before, after = search.yardstick.original.profile, search.evidence.profile
    counts = (total_syncs(before) - SETUP, total_syncs(after) - SETUP)
    assert counts == case.syncs


def test_an_index_is_credited_with_what_it_saves_where_it_is_used(workshop: Workshop) -> None:
    text = HEAD.lstrip() + textwrap.dedent(CASES["shuffled_minibatches"].body).lstrip()
    text = text.replace(" * weights[rows]", "\\\n        * weights[rows]")
    (kept,) = workshop.search(text).kept
    assert (kept.before.syncs, kept.after.syncs) == (4, 2)


def test_what_is_handed_over_holds_without_checks_and_leaves_nothing_to_fix(
    workshop: Workshop,
) -> None:
    text = HEAD.lstrip() + textwrap.dedent(CASES["running_loss"].body).lstrip()
    first = workshop.search(text)
    fixed = unguarded(first.texts[NAME])
    again = workshop.search(fixed)
    assert again.kept == []
    assert first.yardstick.difference(again.evidence) is None
