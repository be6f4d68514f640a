"""One robot: thrust, motion, frames, perception and the collision regulations."""

from __future__ import annotations

import numpy as np
import pytest

from legacy_marinenav.marinenav_env.envs.marinenav_env import Obstacle
from legacy_marinenav.marinenav_env.envs.utils.robot import Perception, Robot

STILL = np.zeros(3)


def make_robot(*, x: float = 20.0, y: float = 20.0, theta: float = 0.0, seed: int = 0) -> Robot:
    robot = Robot(seed)
    robot.start, robot.goal = np.array([x, y]), np.array([40.0, 40.0])
    robot.init_theta = theta
    robot.reset_state(STILL)
    return robot


class TestThrust:
    def test_float32_actions_stay_float32(self) -> None:
        robot = make_robot()
        robot.update_state(np.array([-0.3, 0.3], dtype=np.float32), STILL, True, True)
        assert isinstance(robot.left_thrust, np.float32)
        assert robot.left_thrust == -150.0

    def test_float_actions_are_float64(self) -> None:
        robot = make_robot()
        robot.update_state([float(np.float32(-0.3)), 0.3], STILL, True, True)
        assert isinstance(robot.left_thrust, float)
        assert robot.left_thrust == pytest.approx(-150.00000596, abs=1e-8)
        assert robot.left_thrust != -150.0

    def test_thrust_is_clipped(self) -> None:
        robot = make_robot()
        for _ in range(3):
            robot.update_state([-1.0, 1.0], STILL, True, True)
        assert (robot.left_thrust, robot.right_thrust) == (-500.0, 1000.0)

    def test_thrust_changes_on_new_actions_only(self) -> None:
        robot = make_robot()
        robot.update_state([0.2, 0.2], STILL, True, True)
        robot.update_state([0.2, 0.2], STILL, False, True)
        assert robot.left_thrust == pytest.approx(100.0)

    def test_discrete_actions_come_from_the_table(self) -> None:
        robot = make_robot()
        robot.update_state(5 * 3 + 1, STILL, True, False)
        assert (robot.left_thrust, robot.right_thrust) == (250.0, -250.0)

    def test_energy_counts_both_thrusters(self) -> None:
        robot = make_robot()
        robot.left_thrust, robot.right_thrust = -100.0, 300.0
        assert robot.compute_step_energy_cost() == pytest.approx(200.0)


class TestMotion:
    def test_velocity_over_ground_is_the_one_the_substep_started_with(self) -> None:
        robot = make_robot()
        current = np.array([0.5, -0.25, 0.0])
        robot.update_state([1.0, 1.0], current, True, True)
        np.testing.assert_array_equal(robot.velocity, current)
        assert robot.velocity_r[0] > 0.0

    def test_equal_thrust_drives_straight_ahead(self) -> None:
        robot = make_robot(theta=np.pi / 2)
        for substep in range(20):
            robot.update_state([1.0, 1.0], STILL, substep == 0, True)
        assert robot.y > 20.0
        assert robot.x == pytest.approx(20.0)
        assert robot.theta == pytest.approx(np.pi / 2)

    @pytest.mark.parametrize("theta", [0.01, 2 * np.pi - 0.01])
    def test_the_heading_is_kept_within_one_turn(self, theta: float) -> None:
        robot = make_robot(theta=theta)
        robot.velocity_r = np.array([0.0, 0.0, -1.0 if theta < 1.0 else 1.0])
        robot.update_state([0.0, 0.0], STILL, True, True)
        assert 0.0 <= robot.theta < 2 * np.pi
        assert np.abs(robot.theta - theta) > 6.0

    def test_spinning_too_fast_is_noticed(self) -> None:
        robot = make_robot()
        robot.velocity = np.array([0.0, 0.0, -1.1])
        assert robot.check_over_spin()

    def test_projection_of_points_and_vectors(self) -> None:
        robot = make_robot(theta=np.pi / 2)
        vector = robot.project_to_robot_frame(np.array([0.0, 2.0]))
        point = robot.project_to_robot_frame(np.array([20.0, 22.0]), is_vector=False)
        assert vector.shape == point.shape == (2,)
        assert type(vector) is np.ndarray
        np.testing.assert_allclose([vector, point], [[2.0, 0.0]] * 2, atol=1e-12)

    @pytest.mark.parametrize("wrong", [[1.0, 2.0], np.zeros(3), np.zeros((2, 1))])
    def test_only_arrays_of_two_are_projected(self, wrong: object) -> None:
        with pytest.raises(AssertionError):
            make_robot().project_to_robot_frame(wrong)

    def test_a_substep_makes_22_matrices(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The cost of the small matrix products is what users measure: neither more nor fewer."""
        robot = make_robot()
        constructions = 0
        construct = np.matrix.__new__

        def counted(*arguments: object, **keywords: object) -> np.matrix:
            nonlocal constructions
            constructions += 1
            return construct(*arguments, **keywords)

        monkeypatch.setattr(np.matrix, "__new__", counted)
        robot.compute_motion()
        assert constructions == 22


class TestPerception:
    def test_five_draws_per_candidate_detected_or_not(self) -> None:
        robot = make_robot(seed=7)
        robot.perception_output([Obstacle(54.0, 54.0, 1.0), Obstacle(25.0, 20.0, 1.0)], [robot])
        generator = np.random.RandomState(7)
        for _ in range(2):
            generator.normal(0, 0.05, 4)
            generator.vonmises(0, 1.0)
        assert robot.perception.observed_obs == [1]
        assert robot.perception.rd.random_sample() == generator.random_sample()

    def test_the_five_nearest_objects_are_returned_nearest_first(self) -> None:
        robot = make_robot()
        obstacles = [Obstacle(20.0 + distance, 20.0, 1.0) for distance in (12, 6, 14, 8, 16, 10)]
        (_, objects), _, _ = robot.perception_output(obstacles, [robot])
        assert [round(x) for x, *_ in objects] == [6, 8, 10, 12, 14]
        assert len(robot.perception.observation["objects"]) == 6

    def test_own_state_in_both_frames(self) -> None:
        robot = make_robot(theta=np.pi / 2)
        (own, _), _, _ = robot.perception_output([], [robot])
        np.testing.assert_allclose(own, [20.0, -20.0, 0, 0, 0, 0, 0], atol=1e-12)
        (own, _), _, _ = robot.perception_output([], [robot], in_robot_frame=False)
        assert own == [20.0, 20.0, 0.0, 0.0, 0.0, 0.0, 0.0, 40.0, 40.0]

    def test_collisions_and_arrivals_are_never_taken_back(self) -> None:
        robot = make_robot()
        robot.goal = np.array([21.0, 20.0])
        output = robot.perception_output([Obstacle(22.0, 20.0, 1.0)], [robot])
        assert output[1:] == (True, True)
        robot.x, robot.y = 50.0, 50.0
        assert robot.perception_output([], [robot])[1:] == (True, True)

    def test_what_is_returned_can_be_changed_without_changing_the_robot(self) -> None:
        robot = make_robot()
        (own, objects), _, _ = robot.perception_output([Obstacle(26.0, 20.0, 1.0)], [robot])
        own.clear()
        objects[0].clear()
        assert len(robot.perception.observation["self"]) == 7
        assert len(robot.perception.observation["objects"][0]) == 5

    def test_robots_see_each_other(self) -> None:
        robot, other = make_robot(), make_robot(x=28.0)
        robot.perception_output([], [other, robot])
        assert robot.perception.observed_objs == [0]

    def test_defaults(self) -> None:
        perception = Perception(3)
        assert (perception.seed, perception.range, perception.max_obj_num) == (3, 20.0, 5)
        assert perception.observation == {"self": [], "objects": []}


class TestCollisionRegulations:
    AHEAD = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    """The robot moves along its own x axis at one metre per second."""

    def test_head_on_asks_for_a_turn(self) -> None:
        robot = make_robot()
        assert robot.check_apply_COLREGs(self.AHEAD, [12.0, 0.0, -1.0, 0.0, 2.0])
        assert robot.phi > 0.0

    def test_crossing_from_the_left_asks_for_a_turn(self) -> None:
        robot = make_robot()
        assert robot.check_apply_COLREGs(self.AHEAD, [12.0, 4.0, 0.0, -1.0, 2.0])

    @pytest.mark.parametrize(
        "vehicle",
        [
            pytest.param([12.0, 0.0, -0.3, 0.0, 2.0], id="hardly moves"),
            pytest.param([12.0, 0.0, 1.0, 0.0, 2.0], id="moves the same way"),
            pytest.param([18.0, 0.0, -1.0, 0.0, 2.0], id="is too far ahead"),
            pytest.param([12.0, 5.0, -1.0, 0.0, 2.0], id="passes at a distance"),
            pytest.param([12.0, -4.0, 0.0, 1.0, 2.0], id="comes from the other side"),
            pytest.param([2.0, 12.0, 0.0, -1.0, 2.0], id="is about to have passed"),
        ],
    )
    def test_no_turn_is_owed_to_a_vehicle_that(self, vehicle: list[float]) -> None:
        assert not make_robot().check_apply_COLREGs(self.AHEAD, vehicle)

    def test_a_robot_that_hardly_moves_owes_no_turn(self) -> None:
        slow = (0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.0)
        assert not make_robot().check_apply_COLREGs(slow, [12.0, 0.0, -1.0, 0.0, 2.0])

    @pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
    def test_too_close_for_a_tangent_stores_nan_and_is_not_applied(self) -> None:
        robot = make_robot()
        assert not robot.check_apply_COLREGs(self.AHEAD, [2.0, 0.0, -1.0, 0.0, 2.0])
        assert np.isnan(robot.phi)
