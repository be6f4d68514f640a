from __future__ import annotations

import ast

import pytest

from syncprobe.findings import RULES
from syncprobe.findings.rewriting import snippet
from tests.findings.conftest import Project
from tests.findings.corpus import CORPUS, Program
from tests.slowness import is_in_share, slow_unless


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ("SP100", "scale = value.sqrt().item()", "scale = value.sqrt()"),
        ("SP100", "scale = float(value)", "scale = value"),
        ("SP101", "worst = max(t.item() for t in errors)", "worst = max(errors.tolist())"),
        ("SP101", "all_of = [t.item() for t in errors]", "all_of = errors.tolist()"),
        ("SP102", "return loss.detach().cpu().numpy()", "return loss.detach()"),
        ("SP103", "total += loss.item()", "total += loss.detach()"),
        ("SP103", "print(loss.item())", "if step % 100 == 0:\n    print(loss.item())"),
        ("SP107", "x = torch.tensor(values, device=device)", "x = torch.stack(values)"),
        ("SP205", "x = torch.rand(8, 2).to(device)", "x = torch.rand(8, 2, device=device)"),
        ("SP205", "x = torch.randn(8).cuda()", 'x = torch.randn(8, device="cuda")'),
        ("SP301", "d = Normal(mean, std)", "d = Normal(mean, std, validate_args=False)"),
        ("SP303", "x[mask] -= 1", "x = torch.where(mask, x - 1, x)"),
        ("SP303", "x[mask] = y[mask]", "x = torch.where(mask, y, x)"),
        ("SP304", "one_hot(actions)", "one_hot(actions, num_classes=class_count)"),
        (
            "SP304",
            "n = torch.bincount(x, minlength=9)",
            (
                "n = torch.zeros(9, dtype=torch.int64, device=x.device)"
                ".scatter_add_(0, x, torch.ones_like(x))"
            ),
        ),
        (
            "SP304",
            "n = x.bincount(w)",
            "n = torch.zeros(value_count, dtype=w.dtype, device=x.device).scatter_add_(0, x, w)",
        ),
        ("SP305", "a = Normal(m, s).sample((3,))", "a = Normal(m, s).rsample((3,))"),
        ("SP306", "x = torch.normal(mean, std)", "x = mean + std * torch.randn_like(std)"),
        ("SP306", "x = torch.normal(0.0, std)", "x = std * torch.randn_like(std)"),
        ("SP309", "same = torch.equal(a, b)", "same = (a == b).all()"),
        ("SP309", "same = a.allclose(b)", "same = torch.isclose(a, b).all()"),
        ("SP311", "y = torch.linalg.inv(x)", "y = torch.linalg.inv_ex(x)[0]"),
    ],
)
def test_a_line_is_written_anew(project: Project, rule: str, before: str, after: str) -> None:
    project.write(f"def run():\n    {before}  # as it was\n")
    found = snippet(RULES[rule], project.at("# as it was"), project.source)
    assert (found.before, found.after) == (before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "while error.item() > 0.1:",
            "turn = 0\nwhile turn % 10 or error.item() > 0.1:\n    turn += 1",
        ),
        ("if loss.isnan():", "if turn % 10 == 0 and loss.isnan():"),
        ("if a.any() or b.any():", "if turn % 10 == 0 and (a.any() or b.any()):"),
    ],
)
def test_what_ends_a_loop_is_asked_seldom(project: Project, before: str, after: str) -> None:
    project.write(f"for batch in batches:\n    {before}\n        break\n")
    found = snippet(RULES["SP106"], project.at(before), project.source)
    assert (found.before, found.after) == (before, after)


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("SP103", "for row in rows.tolist(): use(row)"),
        ("SP303", "x[mask] = torch.zeros_like(x[mask])"),
        ("SP309", "assert torch.equal(a, b)"),
        ("SP402", "y = torch.linalg.inv(torch.eye(4))"),
        ("SP501", "y = [policy(x) for x in states]"),
    ],
)
def test_a_line_that_says_too_little_gets_the_example(
    project: Project, rule: str, line: str
) -> None:
    project.write(f"{line}  # here\n")
    found = snippet(RULES[rule], project.at("# here"), project.source)
    assert (found.before, found.after) == (RULES[rule].example, RULES[rule].instead)


def test_a_statement_over_several_lines_keeps_its_shape(project: Project) -> None:
    project.write("""
        values.append(
            first,
            loss.item(),
        )
    """)
    found = snippet(RULES["SP103"], project.at("loss.item()"), project.source)
    assert found.after == "values.append(\n    first,\n    loss.detach(),\n)"


def test_letters_beyond_ascii_do_not_shift_the_text(project: Project) -> None:
    project.write('losses["größe"] = loss.item()\n')
    found = snippet(RULES["SP103"], project.at("loss.item()"), project.source)
    assert found.after == 'losses["größe"] = loss.detach()'


def test_a_buffer_that_is_bound_again_is_only_a_beginning(project: Project) -> None:
    project.write("""
        for batch in batches:
            hidden = torch.zeros(8, device=device)
            hidden = cell(batch, hidden)
    """)
    found = snippet(RULES["SP403"], project.at("torch.zeros"), project.source)
    assert found.after.endswith("# in the loop\nhidden = initial")


@pytest.mark.parametrize(
    "program",
    slow_unless(lambda program: is_in_share(program.name, one_in=4), CORPUS),
    ids=lambda program: program.name,
)
def test_findings_show_their_line_and_code_that_is_python(program: Program) -> None:
    written = program.path.read_text().splitlines()
    for finding in program.profile.findings:
        if finding.site.line:
            assert finding.source == written[finding.site.line - 1].strip()
        assert finding.before != finding.after
        assert finding.after is not None
        ast.parse(finding.after if not finding.after.endswith(":") else f"{finding.after} pass")
