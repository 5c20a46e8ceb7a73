"""Errors meant for the person who runs the workflow."""


class InputError(Exception):
    """Something given to the workflow cannot be used.

    The message says what was found, what was expected and what to do.
    """
