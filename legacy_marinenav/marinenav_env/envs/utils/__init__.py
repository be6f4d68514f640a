"""What the environment is made of: robots and their sensors, schedules, stored episodes."""
