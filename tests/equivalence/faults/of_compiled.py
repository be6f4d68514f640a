"""Faults in the compiled environment, in compiled steps of Adam and in compiled networks."""

from __future__ import annotations

from typing import Any

from tests.equivalence.faults.fault import Fault

_TRIED = "compiled code is tried before it is used, and arrays are used if it disagrees"
_MAX = "mode max is held to rewards, not to bits"
_FOLDER = "marinenav.step5_merge"


def _fault(module: str, **given: Any) -> Fault:
    return Fault(module=f"{_FOLDER}.compiled_environment.{module}", is_compiled=True, **given)


def _of_descent(module: str, **given: Any) -> Fault:
    return Fault(module=f"{_FOLDER}.compiled_descent.{module}", is_compiled=True, **given)


def _of_networks(module: str, **given: Any) -> Fault:
    return Fault(module=f"{_FOLDER}.compiled_networks.{module}", is_compiled=True, **given)


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
        "stepping",
        name="robots that somebody has changed between a look and a step are taken for what they were",
        old="    if memory.watch is not None and not memory.watch.holds():\n",
        new="    if memory.watch is None:\n",
        beyond_verify="nobody changes robots between a reset and a step",
    ),
    _fault(
        "memory",
        name="robots that moved are seen where they were",
        old="            self.lookout.observers[:, : tables.HAS_COLLIDED] = poses\n",
        new="",
        beyond_verify=_TRIED,
    ),
    _fault(
        "compiled.noise",
        name="draws near the border of rejection are accepted unseen",
        old="bounds[part, 0] = min(one, other) - _MARGIN if",
        new="bounds[part, 0] = max(one, other) - _MARGIN if",
        beyond_verify=_TRIED,
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
    _of_descent(
        "kernels",
        name="gradients are clipped by a norm that is a little larger when compiled",
        old="_norm(lanes, norms) + float32(1e-6)",
        new="_norm(lanes, norms) + float32(1e-5)",
        beyond_verify=_TRIED,
    ),
    _of_descent(
        "kernels",
        name="squares of zero have a root of one when compiled",
        old="roots[place] if square[place] != float32(0.0) else float32(0.0)",
        new="roots[place]",
        beyond_verify=_TRIED,
    ),
    _of_networks(
        "compiled.runner",
        name="slopes pass rectifiers that were shut when compiled",
        old="np.float32(0.0) if output[place] <= np.float32(0.0) else slope[place]",
        new="slope[place]",
        beyond_verify=_TRIED,
    ),
    _of_networks(
        "kernels",
        name="a shape that was never tried is trusted",
        old="return program if is_right else reference",
        new="return program",
        beyond_verify="here every shape agrees",
    ),
    _of_networks(
        "tapes.way_back",
        name="slopes that come back two ways are those of one",
        old="            self.tape.append((operations.ADD, before.slot, slopes.slot, 0, slopes.length))\n",
        new="            pass\n",
        beyond_verify="each shape is tried before it is used, and torch is asked if it disagrees",
    ),
    _of_networks(
        "programs",
        name="gradients are memory that is used again",
        old="place: self._room(tensors, place) for place in self._sloped",
        new="place: vars(self).setdefault(str(place), self._room(tensors, place)) for place in self._sloped",
        beyond_verify="nobody keeps gradients from one update to the next",
    ),
    _of_networks(
        "learning",
        name="the actor learns from the fractions of the critic when compiled",
        old="cosines(critic, inputs.fractions[2])",
        new="cosines(critic, inputs.fractions[1])",
        agent="AC-IQN",
    ),
    _of_networks(
        "compiled.losses",
        name="the larger value of two critics counts when compiled",
        old="_ZERO if one > other else",
        new="_ZERO if one < other else",
        agent="SAC",
        beyond_verify=_TRIED,
    ),
    _of_descent(
        "kernels",
        name="the last number of each half stays where it is in mode max",
        old="length * (part + 1) // parts - begin",
        new="length * (part + 1) // parts - begin - 1",
        agent="Rainbow",
        beyond_verify=_MAX,
    ),
    _of_descent(
        "kernels",
        name="each half is clipped by its own norm in mode max",
        old="np.sqrt(sums.sum())",
        new="np.sqrt(sums[part])",
        agent="Rainbow",
        beyond_verify=_MAX,
    ),
    _of_networks(
        "kernels",
        name="half of the noisy weights stay as they were in mode max",
        old="        rest = addresses + BYTES * half\n",
        new="        rest = addresses\n",
        agent="Rainbow",
        beyond_verify=_MAX,
    ),
    _of_networks(
        "learning",
        name="the second critic learns what the first one should when compiled",
        old="take(agent.critic_2_optimizer, answer.parameters[half:], slopes[half:])",
        new="take(agent.critic_2_optimizer, answer.parameters[half:], slopes[:half])",
        agent="SAC",
    ),
    _of_networks(
        "compiled.sampling",
        name="deviations that were cut get slopes when compiled",
        old="of_log_std[row, place] = slope if is_inside else float32(0.0)",
        new="of_log_std[row, place] = slope",
        beyond_verify=_TRIED,
    ),
    _of_networks(
        "compiled.runner",
        name="advantages are not compared with their mean when compiled",
        old="target[row, action, atom] = together - mean[atom]",
        new="target[row, action, atom] = together",
        beyond_verify="each shape is tried before it is used, and torch is asked if it disagrees",
    ),
    _of_networks(
        "learning",
        name="deviations of noisy layers get the slopes of their means when compiled",
        old="torch._foreach_mul(means, noises)",
        new="[each.clone() for each in means]",
        agent="Rainbow",
    ),
    _of_networks(
        "learning",
        name="losses that are no numbers are taken for numbers when compiled",
        old="if not (math.isfinite((batch.weights * loss).mean()) and math.isfinite(together.sum())):",
        new="if batch is None:",
        beyond_verify="ordinary agents have finite losses",
    ),
    _of_networks(
        "compiled.atoms",
        name="mass on the highest atom is lost when compiled",
        old="        if lower < last and lower == upper:\n            upper += one\n",
        new="",
        agent="Rainbow",
    ),
    _of_networks(
        "atoms",
        name="noise of all layers is drawn at once when compiled",
        old="        part.normal_()  # normals that are drawn together are others\n",
        new="        pass\n    drawn.normal_()\n",
        agent="Rainbow",
        beyond_verify=_TRIED,
    ),
    _of_networks(
        "compiled.priorities",
        name="windows reach into another episode when compiled",
        old="is_blank = is_blank or (step > 0 and timesteps[place] == 0)",
        new="is_blank = False",
        agent="Rainbow",
    ),
    _of_networks(
        "compiled.rows",
        name="episodes go on after their end when compiled",
        old="rest = np.float32(1.0) - rows[row, column + 1]",
        new="rest = np.float32(1.0)",
    ),
    _of_networks(
        "losses",
        name="losses of values are cut where they are large when compiled",
        old="return _compared(losses.smooth, values",
        new="return _compared(losses.squared, values",
        beyond_verify=_TRIED,
    ),
    _of_networks(
        "compiled.rows",
        name="objects that are there are taken for absent ones when compiled",
        old="< np.float32(0.5)",
        new="< np.float32(1.5)",
    ),
    _of_networks(
        "compiled.quantile_slopes",
        name="large errors lose as much as small ones when compiled",
        old="weight * (near if size <= one else far)",
        new="weight * near",
        beyond_verify=_TRIED,
    ),
    _of_networks(
        "forwards",
        name="robots that are many are asked about at once in exact mode",
        old="return self._is_exact or robots <= most",
        new="return robots <= most",
        beyond_verify="its runs have fewer robots than that",
    ),
    _of_networks(
        "products",
        name="products that sum in another order are used when compiled",
        old="if all(map(np.array_equal, trial.results(row), wanted)):",
        new="if trial is not wanted:",
        beyond_verify="each network is tried before it is used, and torch is asked if it disagrees",
    ),
    _of_networks(
        "compiled.turning",
        name="what is left of the last tile is not turned when compiled",
        old="for place in range(across if row < whole else 0, width):",
        new="for place in range(across, width):",
        beyond_verify=_TRIED,
    ),
    _of_descent(
        "kernels",
        name="roots are always the nearest ones when compiled",
        old="            if forms[2]:\n",
        new="            if forms[2] and length < 0:\n",
        beyond_verify=_TRIED,
    ),
)
