"""A plan finds the tables of its steps, whatever program they are for, or says which one it cannot find."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

import patches
from patches.errors import NoSuchAttributeError, TableError
from patches.plan import PatchStep, Plan
from patches.replacement import Replacement

PROGRAM = "a_slow_program"


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a module that can be imported while the test runs."""

    def made(name: str, **contents: Any) -> ModuleType:
        module = ModuleType(name)
        vars(module).update(contents)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return made


def plan_of(*modules: str, **options: Any) -> Plan:
    step = PatchStep(
        number=1, name="decide", title="", replaces="", removes="", modules=modules, **options
    )
    return Plan((step,))


def test_another_program_brings_a_plan_of_its_own(make: Any) -> None:
    program = make(PROGRAM, act=lambda: "slow")
    make("its_table", REPLACEMENTS=(Replacement(PROGRAM, "act", lambda: "fast"),))
    with patches.applied("decide", plan=plan_of("its_table")) as applied:
        assert program.act() == "fast"
        assert applied.settings.steps == (1,)
    assert program.act() == "slow"


def test_a_misspelt_module_is_an_error() -> None:
    plan = plan_of("patches.marinenav.step1_decide.tablet")
    with pytest.raises(TableError, match=r"'decide'.*step1_decide\.tablet.*no such module"):
        patches.apply(1, plan=plan)
    with pytest.raises(TableError, match="no such module"):
        patches.apply(1, plan=plan_of("patches.marinenaf.step1_decide.table"))


def test_a_module_that_a_table_misses_is_named_itself(tmp_path: Any, monkeypatch: Any) -> None:
    (tmp_path / "table_that_needs_more.py").write_text("import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        patches.apply(1, plan=plan_of("table_that_needs_more"))


@pytest.mark.parametrize("contents", [{}, {"REPLACEMENTS": ()}, {"REPLACEMENT": (1,)}])
def test_a_module_without_a_table_is_an_error(make: Any, contents: dict[str, Any]) -> None:
    make("its_table", **contents)
    with pytest.raises(TableError, match="its_table, but it has no tuple REPLACEMENTS"):
        patches.apply(1, plan=plan_of("its_table"))


def test_a_row_that_is_no_replacement_is_an_error(make: Any) -> None:
    make("its_table", REPLACEMENTS=((PROGRAM, "act", max),))
    with pytest.raises(TableError, match="is no Replacement"):
        patches.apply(1, plan=plan_of("its_table"))


def test_what_is_not_there_cannot_be_replaced_but_can_be_added(make: Any) -> None:
    program = make(PROGRAM, act=min, learn=min)
    rows = [Replacement(PROGRAM, "act", max), Replacement(PROGRAM, "learnt", max)]
    make("its_table", REPLACEMENTS=tuple(rows))
    with pytest.raises(NoSuchAttributeError, match="a_slow_program has no learnt"):
        patches.apply(1, plan=plan_of("its_table"))
    assert program.act is min, "what was put in place before is taken away again"
    assert patches.current_settings() is None

    make("its_table", REPLACEMENTS=(Replacement(PROGRAM, "learnt", max, is_new=True),))
    with patches.applied(1, plan=plan_of("its_table")):
        assert program.learnt is max
    assert not hasattr(program, "learnt")


def test_a_table_for_a_package_counts_only_where_there_is_one(make: Any) -> None:
    program = make(PROGRAM, act=min)
    make("its_table", REPLACEMENTS=(Replacement(PROGRAM, "act", max),))
    without = plan_of(modules_with={"nowhere_to_be_found": "nor_this"})
    with patches.applied(1, plan=without):
        assert program.act is min
    with patches.applied(1, plan=plan_of(modules_with={"torch": "its_table"})):
        assert program.act is max
    with pytest.raises(TableError, match="no such module"):
        patches.apply(1, plan=plan_of(modules_with={"torch": "nor_this"}))
