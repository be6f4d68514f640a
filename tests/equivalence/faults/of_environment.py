"""Faults in step 5's environment: many robots at once."""

from __future__ import annotations

from tests.equivalence.faults.fault import Fault

VECTOR = "marinenav.step5_merge.vector_environment"

FAULTS = (
    Fault(
        name="a turn that is no number is taken",
        module=f"{VECTOR}.encounters",
        old="if robot.phi > 0:",
        new="if not robot.phi <= 0:",
    ),
    Fault(
        name="the last object that asks for a turn has its way",
        module=f"{VECTOR}.encounters",
        old="        if robot.apply_COLREGs:\n            continue\n",
        new="",
    ),
    Fault(
        name="slow objects are given way to",
        module=f"{VECTOR}.sensing",
        old="if speeds[begin + place] >= SPEED_MIN:",
        new="if speeds[begin + place] >= 0.0:",
    ),
    Fault(
        name="objects are sorted by their centres",
        module=f"{VECTOR}.sensing",
        old="math.pow(y, 2.0)) - r - radius for",
        new="math.pow(y, 2.0)) - radius for",
    ),
    Fault(
        name="seen robots are numbered among the active ones",
        module=f"{VECTOR}.sensing",
        old="numbers[thing - obstacles] for thing",
        new="(thing - obstacles) for thing",
    ),
    Fault(
        name="radii of robots become plain numbers",
        module=f"{VECTOR}.sensing",
        old="float(radius) if plain_ratios[row] and plain_radii[thing] else radius",
        new="float(radius)",
        beyond_verify="radii of ordinary robots are plain numbers",
    ),
    Fault(
        name="robots that just touch pass each other",
        module=f"{VECTOR}.view",
        old="_COLLISION_MARGIN = np.array(1 + 1e-6)",
        new="_COLLISION_MARGIN = np.array(1 - 1e-3)",
    ),
    Fault(
        name="things are collided with unseen",
        module=f"{VECTOR}.view",
        old="    is_close &= detected\n",
        new="",
        beyond_verify="ordinary sensors see whatever is that close",
    ),
    Fault(
        name="angles are drawn before normals",
        module=f"{VECTOR}.view",
        old="            normals.append(draw_normals(4))\n            angles.append(draw_angle(_ZERO, kappa))",
        new="            angles.append(draw_angle(_ZERO, kappa))\n            normals.append(draw_normals(4))",
    ),
    Fault(
        name="the eye of a vortex turns like its rim",
        module=f"{VECTOR}.current",
        old="environment.r * environment.r * (1 + 1e-9)",
        new="0.0",
    ),
    Fault(
        name="a position that is no number is passed over",
        module=f"{VECTOR}.current",
        old=" and sum(nearest) < math.inf)",
        new=")",
        equivalent="stepping.py leaves what ends up not finite to the legacy code, too",
    ),
    Fault(
        name="cores are added up from the farthest",
        module=f"{VECTOR}.current",
        old="order = squares.argsort(1)",
        new="order = (-squares).argsort(1)",
    ),
    Fault(
        name="ties between cores are not looked into",
        module=f"{VECTOR}.current",
        old="if has_tie or not (",
        new="if not (",
        beyond_verify="cores of random maps are never equally far; the tests of corners place them so",
    ),
    Fault(
        name="a thrust that is no number becomes the lowest",
        module=f"{VECTOR}.stepping",
        old="if is_double and thrust == thrust:",
        new="if is_double:",
    ),
    Fault(
        name="the clock of schedules stands still",
        module=f"{VECTOR}.stepping",
        old="    environment.total_timesteps += 1\n",
        new="",
    ),
    Fault(
        name="evaluations keep no trajectories",
        module=f"{VECTOR}.stepping",
        old="                robot.save_trajectory()\n",
        new="                pass\n",
    ),
    Fault(
        name="headings are wrapped above only",
        module=f"{VECTOR}.vessels",
        old="if not (min(turned) >= 0.0 and max(turned) < TWO_PI):",
        new="if not max(turned) < TWO_PI:",
    ),
    Fault(
        name="yaw over ground for yaw through water",
        module=f"{VECTOR}.vessels",
        old="body_yaw_rates[:] = yaw_rates",
        new="body_yaw_rates[0] = yaw_rates",
    ),
    Fault(
        name="drag of the rotation is linear",
        module=f"{VECTOR}.coefficients",
        old="zero, (nVV, nRV), (nVR, nRR),",
        new="zero, (nVV, nRV), (nVR, nVR),",
    ),
    Fault(
        name="robots with a propulsion of their own are not asked",
        module=f"{VECTOR}.legacy",
        old='    "compute_propulsion",\n',
        new="",
        beyond_verify="ordinary robots have no methods of their own",
    ),
    Fault(
        name="sensors of negative deviation are computed with",
        module=f"{VECTOR}.scene",
        old="        and perception.pos_std >= 0.0\n",
        new="",
        beyond_verify="ordinary sensors have positive deviations",
    ),
)
