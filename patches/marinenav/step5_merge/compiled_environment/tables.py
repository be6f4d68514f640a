"""Columns of the arrays that compiled and interpreted code exchange."""

from __future__ import annotations

# A vessel's row. Numbers that are read with every step: pose, thrusts, what an action changes them by; arrays that
# are: velocity relative to the water, goal. Written: velocity over ground, progress. What rarely changes: the
# thrusters' angles, width, length and the thrusters' limits.
VESSEL_X, VESSEL_Y, VESSEL_HEADING, THRUSTS, CHANGES, WATER, VESSEL_GOAL, GROUND, PROGRESS = (
    0, 1, 2, 3, 5, 7, 10, 12, 15,
)  # fmt: skip
THRUSTER_ANGLES, WIDTH, LENGTH, LOWEST, HIGHEST = 16, 18, 19, 20, 21
VESSEL = 22

# An observer's row. Numbers that are read with every look: pose, whether it has collided; arrays that are: goal,
# velocity. What rarely changes: radius, the goal's reach, the zones of encounters, the sensor.
X, Y, HEADING, HAS_COLLIDED, GOAL_X, GOAL_Y, V_X, V_Y = range(8)
RADIUS, GOAL_REACH, HEAD_ON_X, HEAD_ON_Y, REAR, FRONT, FAR, CORNER = range(8, 16)
POSITION_DEVIATION, VELOCITY_DEVIATION, RANGE, ANGLE, RATIO, KAPPA = range(16, 22)
OBSERVER_CHANGING, OBSERVER = 8, 22
"""How many of the first change with every look, and the length of a row."""

# An observer's integers: its generator's address, and the generator's first word and position when it was last
# known to have no normal left over; how many objects it reports. Written: how many were found, what happened.
ADDRESS, WORD, POSITION, LIMIT, COUNT, EVENTS = range(6)
SUMMARY = 6

REACHED, COLLIDED, GIVES_WAY, HAS_ANGLE = 1, 2, 4, 8
"""Events: goal in reach; something touched; a turn is owed; an angle was computed."""
LACKS_ANGLE = 16
"""An object is too close for an angle: the bit of the nearest one, followed by those of the others."""
MOST_OBJECTS = 48
"""How many objects have a bit."""

THING = 5
"""Position, velocity and radius of what can be seen."""
OWN = 4
"""Goal and velocity in the robot's frame."""
FOUND = 4
"""Position and velocity of what was found."""
BLOCK = 128
"""How many uniforms are drawn ahead: several at a time cost a fraction."""
PARTS = 512
"""Of half a turn, each with bounds between which an angle's draw may be accepted or rejected; a power of two."""
HAS_CHANGED = 3
"""What compiled code answers if robots are not as they were noted; it has changed nothing then."""
