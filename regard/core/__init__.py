"""The words every part speaks."""
