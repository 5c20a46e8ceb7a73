"""Errors meant for the person who runs the workflow."""


class InputError(Exception):
    """An input of the workflow cannot be used.

    The message says what was found, what was expected and what to do.
    """


STOPPED = "Stopped: "
"""In the log of a job, what precedes the message of the `InputError` that ended it."""
