"""Vectorised environments: stable-baselines3's PPO and DQN, as they come, on several environments at once.

The library's classes are the "before" of a comparison; ``patches.vecenv`` puts subclasses in their place.
"""
