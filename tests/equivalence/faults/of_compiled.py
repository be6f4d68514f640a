"""Faults in the compiled environment and in compiled steps of Adam."""

from __future__ import annotations

from typing import Any

from tests.equivalence.faults.fault import Fault

_TRIED = "compiled code is tried before it is used, and arrays are used if it disagrees"
_FOLDER = "marinenav.step5_merge"


def _fault(module: str, **given: Any) -> Fault:
    return Fault(module=f"{_FOLDER}.compiled_environment.{module}", is_compiled=True, **given)


def _of_descent(module: str, **given: Any) -> Fault:
    return Fault(module=f"{_FOLDER}.compiled_descent.{module}", is_compiled=True, **given)


FAULTS = (
    _fault(
        "telling",
        name="a robot is told the first of its objects twice",
        old="nearest = [found[place].copy() for place in places[begin:end][:limit]]",
        new="nearest = [found[max(place - 1, 0)].copy() for place in places[begin:end][:limit]]",
        beyond_verify=_TRIED,
    ),
    _fault(
        "telling",
        name="seen robots are numbered among those that are under way",
        old="names = [*range(first), *active]",
        new="names = [*range(first), *range(len(active))]",
    ),
    _fault(
        "telling",
        name="a collision is told as an arrival",
        old="        robot.collision = True\n",
        new="        robot.reach_goal = True\n",
        beyond_verify=_TRIED,
    ),
    _fault(
        "sensing",
        name="obstacles that moved are where they were",
        old="    if are_same(values, lookout.obstacles):\n",
        new="    if len(values) == len(lookout.obstacles):\n",
    ),
    _fault(
        "stepping",
        name="a new hull has the coefficients of the old one",
        old="        fleet.coefficients = None\n",
        new="",
    ),
    _fault(
        "stepping",
        name="velocities of all steps are one array",
        old="water=vessels[:, tables.WATER : tables.VESSEL_GOAL].copy()",
        new="water=vessels[:, tables.WATER : tables.VESSEL_GOAL]",
    ),
    _fault(
        "generators",
        name="a normal that waits in a generator is passed over",
        old='    if state["has_gauss"]:\n',
        new="    if not state:\n",
        beyond_verify="ordinary sensors draw no single normals, so none ever waits",
    ),
    _fault(
        "loading",
        name="compiled code is used although it was found to disagree",
        old="    if problem:\n",
        new="    if not problem and not found:\n",
        beyond_verify="here it agrees",
    ),
    _fault(
        "compiled.motion",
        name="the water in an eye turns like its rim when compiled",
        old="        if distance <= radius:\n",
        new="        if distance < 0.0:\n",
        beyond_verify=_TRIED,
    ),
    _fault(
        "compiled.encounters",
        name="vessels from the right give way when compiled",
        old="return _PI / 4 <= heading <= 3 * _PI / 4",
        new="return -3 * _PI / 4 <= heading <= -_PI / 4",
        beyond_verify=_TRIED,
    ),
    _fault(
        "compiled.looking",
        name="what was hit before is hit again when compiled",
        old="if not has_collided and _touch(two, robot, thing):",
        new="if _touch(two, robot, thing):",
        beyond_verify=_TRIED,
    ),
    _fault(
        "compiled.noise",
        name="what was drawn ahead in vain is lost",
        old="    words[WORDS] -= 2 * (count - place)\n",
        new="    words[WORDS] -= 0 * (count - place)\n",
        beyond_verify=_TRIED,
    ),
    _fault(
        "compiled.motion",
        name="thrusters know no upper limit when compiled",
        old="            thrust = vessel[tables.HIGHEST]\n",
        new="            thrust = thrust + 0.0\n",
        beyond_verify=_TRIED,
    ),
    _of_descent(
        "kernels",
        name="targets forget what they were when compiled",
        old="target[place] = local[place] * part + target[place] * rest",
        new="target[place] = local[place] * part",
        beyond_verify=_TRIED,
    ),
    _of_descent(
        "kernels",
        name="averages take the gradients of before they were clipped when compiled",
        old="_fused_single(weight, slope - mean[place], mean[place])",
        new="_fused_single(weight, slope / scale - mean[place], mean[place])",
        beyond_verify=_TRIED,
    ),
    _of_descent(
        "kernels",
        name="nobody is told that targets were written to",
        old="            increment_version(targets)\n",
        new="            pass\n",
        beyond_verify="no legacy code keeps targets for a backward pass",
    ),
    _of_descent(
        "probing",
        name="targets are not tried before compiled code moves them",
        old='return (found, "") if targets_agree(found) else (None, "it moves targets otherwise")',
        new='return found, ""',
        beyond_verify="here they agree",
    ),
)
