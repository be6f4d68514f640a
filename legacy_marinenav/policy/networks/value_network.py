"""What the networks over a discrete set of actions share."""

from __future__ import annotations

from legacy_marinenav.policy.networks.encoders import ObservationEncoder


class DiscreteActionNetwork(ObservationEncoder):
    """Base of the networks that answer for every action at once."""

    OWN_PARAMETERS = ("action_size",)

    def __init__(
        self,
        self_dimension: int,
        object_dimension: int,
        max_object_num: int,
        self_feature_dimension: int,
        object_feature_dimension: int,
        concat_feature_dimension: int,
        hidden_dimension: int,
        action_size: int,
        device: str = "cpu",
        seed: int = 0,
    ) -> None:
        super().__init__(
            self_dimension,
            object_dimension,
            max_object_num,
            self_feature_dimension,
            object_feature_dimension,
            concat_feature_dimension,
            hidden_dimension,
            device,
            seed,
        )
        self.action_size = action_size
