"""The version, in its own module so that signatures need not import the whole package."""

__version__ = "0.1.0"
