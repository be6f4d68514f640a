"""The version, alone so that build tools can read it without importing the package."""

__version__ = "0.2.0.dev0"
