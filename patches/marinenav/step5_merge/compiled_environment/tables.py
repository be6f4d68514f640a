"""Columns of the arrays that compiled and interpreted code exchange about what robots see."""

from __future__ import annotations

# Numbers of an observer: pose, radius, goal and velocity; the sensor; the goal's reach; encounter zones.
X, Y, HEADING, RADIUS, GOAL_X, GOAL_Y, V_X, V_Y = range(8)
POSITION_DEVIATION, VELOCITY_DEVIATION, RANGE, ANGLE, RATIO, KAPPA = range(8, 14)
GOAL_REACH, HEAD_ON_X, HEAD_ON_Y, REAR, FRONT, FAR, CORNER = range(14, 21)
OBSERVER = 21
"""Their number."""

# Integers of an observer: its generator's address, and the generator's first word and position when it was
# last known to have no normal left over; how many objects it reports, and whether it has collided.
ADDRESS, WORD, POSITION, LIMIT, HAS_COLLIDED = range(5)
# Written: how many objects were found, and what happened.
COUNT, EVENTS = 5, 6
SUMMARY = 7

REACHED, COLLIDED, GIVES_WAY, HAS_ANGLE, ASKS = 1, 2, 4, 8, 16
"""Events: goal in reach; something touched; a turn is owed; an angle was computed; only the legacy code can tell."""

# Numbers of what is found: own goal and velocity, and the angle; of each object position, velocity,
# radius and clearance.
OWN = 5
FOUND = 6
THING = 5
