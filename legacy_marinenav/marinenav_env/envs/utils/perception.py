"""A robot's sensor: what it can see, how noisy it is, and what it saw last."""

import numpy as np


class Perception:
    """Range-limited sensor of one robot, with a noise generator of its own.

    Args:
        seed: Seed of the noise.
    """

    def __init__(self, seed=0):
        self.seed = seed
        self.rd = np.random.RandomState(seed)

        self.range = 20.0
        self.angle = 2 * np.pi
        self.max_obj_num = 5

        self.observation = {"self": [], "objects": []}
        self.observed_obs = []
        self.observed_objs = []

        self.pos_std = 0.05
        self.vel_std = 0.05
        self.r_kappa = 1.0
        self.r_mean_ratio = 0.8

    def pos_observation(self, x, y):
        """Return a position with Gaussian noise, x drawn first."""
        noisy_x = x + self.rd.normal(0, self.pos_std)
        noisy_y = y + self.rd.normal(0, self.pos_std)
        return noisy_x, noisy_y

    def velocity_observation(self, v_x, v_y):
        """Return a velocity with Gaussian noise, x drawn first."""
        noisy_v_x = v_x + self.rd.normal(0, self.vel_std)
        noisy_v_y = v_y + self.rd.normal(0, self.vel_std)
        return noisy_v_x, noisy_v_y

    def r_observation(self, r):
        """Return a radius that is underestimated on average, with bounded (von Mises) noise."""
        mean = self.r_mean_ratio * r
        return mean + (1 - self.r_mean_ratio) * self.rd.vonmises(0, self.r_kappa) / np.pi * r
