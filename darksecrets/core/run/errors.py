"""Errors meant for the person who runs the workflow."""


class InputError(Exception):
    """An input of the workflow cannot be used.

    The message says what failed, what was found and what to do.
    """


STOPPED = "Stopped: "
"""In the log of a job, what precedes the message of the `InputError` that ended it."""
