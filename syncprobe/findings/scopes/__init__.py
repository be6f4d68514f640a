"""What a whole function says, found once for all of its lines."""
