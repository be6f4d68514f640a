"""Marine navigation with several robots; importing it registers the environment with Gymnasium."""

import gymnasium

ENVIRONMENT_ID = "marinenav_env-v0"

if ENVIRONMENT_ID not in gymnasium.registry:
    gymnasium.register(
        id=ENVIRONMENT_ID,
        entry_point="legacy_marinenav.marinenav_env.envs:MarineNavEnv3",
    )
