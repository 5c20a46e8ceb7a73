"""Files of a repository on the Hugging Face Hub, at a pinned revision, or from its cache.

`huggingface_hub` reads ``HF_ENDPOINT``, ``HF_HOME``, ``HF_HUB_OFFLINE`` and the token itself. This
module adds three things: every requested file must exist and have the digest that the Hub gave for
it, which the client does not compare, and every error says what to do.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import digest

if TYPE_CHECKING:
    from pyarrow import Schema

Kind = Literal["dataset", "model"]

_TIMEOUT = 20.0  # seconds to wait for the Hub's answer to a check
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")  # of Git (SHA-1), or SHA-256 for large files


def check(repository: str, revision: str, patterns: Sequence[str], kind: Kind) -> None:
    """Check that `download` can succeed: all files are in the cache, or the Hub has them.

    Only the list of the repository's files is downloaded.

    Args:
        repository: ``owner/name`` on the Hub.
        revision: Commit, tag or branch.
        patterns: Shell patterns of paths; each must match a file. One of several, separated by
            ``|``, is enough.
        kind: Kind of the repository.

    Raises:
        InputError: The Hub cannot be reached and the cache is incomplete; or the repository, the
            revision or a file does not exist.
    """
    from huggingface_hub import HfApi

    with _explained(repository, revision, kind):
        cached = _cached(repository, revision, patterns, kind)
        if cached and not _unmatched(patterns, _files(cached)):
            return
        # Unlike a listing of files, this is not retried for half a minute without an answer.
        ask = HfApi().dataset_info if kind == "dataset" else HfApi().model_info
        information = ask(repository, revision=revision, timeout=_TIMEOUT)
        paths = [file.rfilename for file in information.siblings or []]
    _require(patterns, paths, repository, revision, kind)


def download(
    repository: str,
    revision: str,
    patterns: Sequence[str],
    kind: Kind,
    *,
    optional: Sequence[str] = (),
) -> Path:
    """Download only the files that match ``patterns``; return the snapshot's folder.

    An interrupted transfer is resumed; a cached file is not requested again. The folder may also
    hold files that other programs downloaded.

    Args:
        repository: ``owner/name`` on the Hub.
        revision: Commit, tag or branch.
        patterns: See `check`.
        kind: Kind of the repository.
        optional: Shell patterns of paths that need not match any.

    Raises:
        InputError: See `check`; or a file is listed but cannot be downloaded; or its bytes are not
            those that the Hub has: it is removed then, so that the next call downloads it again.
    """
    from huggingface_hub import snapshot_download

    with _explained(repository, revision, kind):
        folder = Path(
            snapshot_download(
                repository,
                repo_type=kind,
                revision=revision,
                allow_patterns=[*_single(patterns), *optional],
            )
        )
    if _unmatched(patterns, _files(folder)):
        check(repository, revision, patterns, kind)  # tells missing files from no connection
    _require(patterns, _files(folder), repository, revision, kind)
    _verify(folder, [*_single(patterns), *optional], repository)
    return folder


def schema(repository: str, revision: str, pattern: str) -> Schema:
    """Columns of the first parquet file that matches; only its end is downloaded, if any of it.

    Args:
        repository: ``owner/name`` of a data set on the Hub.
        revision: Commit, tag or branch.
        pattern: Shell pattern of paths.

    Raises:
        InputError: See `check`.
    """
    from huggingface_hub import HfFileSystem
    from pyarrow import parquet

    with _explained(repository, revision, "dataset"):
        folder = _cached(repository, revision, [pattern], "dataset")
        if folder and (cached := sorted(folder.glob(pattern))):
            return parquet.read_schema(cached[0])
        files = HfFileSystem()
        paths = files.glob(f"datasets/{repository}@{quote(revision, safe='')}/{pattern}")
        with files.open(min(paths)) as file:
            return parquet.read_schema(file)


def _cached(repository: str, revision: str, patterns: Sequence[str], kind: Kind) -> Path | None:
    """The snapshot's folder in the cache, which may lack files; None if there is none."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    options: dict[str, Any] = {"revision": revision, "allow_patterns": _single(patterns)}
    with contextlib.suppress(LocalEntryNotFoundError):
        return Path(snapshot_download(repository, repo_type=kind, local_files_only=True, **options))
    return None


def _verify(folder: Path, patterns: Sequence[str], repository: str) -> None:
    """Compare files with their digests, which are the names that the cache keeps them under.

    A cache without links (Windows, some copies) has no such names, so nothing is compared there.
    """
    names = _files(folder)
    for name in sorted({name for pattern in patterns for name in fnmatch.filter(names, pattern)}):
        file = (folder / name).resolve()
        if _DIGEST.fullmatch(file.name) and (found := _digest(file)) != file.name:
            (folder / name).unlink()
            file.unlink(missing_ok=True)
            raise InputError(
                f"{name} of {repository} was damaged in the download: its digest is {found}, not "
                f"{file.name}. The damaged copy was removed from the cache: give the same command "
                "again."
            )


def _digest(file: Path) -> str:
    """The digest of the kind that the name of a file in the cache is: SHA-256, or SHA-1 of Git."""
    if len(file.name) == hashlib.sha256().digest_size * 2:
        return digest(file)
    content = file.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _files(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def _single(patterns: Iterable[str]) -> list[str]:
    """Patterns, each by itself: ``a|b`` is two."""
    return [each for pattern in patterns for each in pattern.split("|")]


def _unmatched(patterns: Sequence[str], paths: Iterable[str]) -> list[str]:
    """Patterns of which no alternative matches a path."""
    names = list(paths)
    return [
        pattern
        for pattern in patterns
        if not any(fnmatch.filter(names, each) for each in _single([pattern]))
    ]


def _require(
    patterns: Sequence[str], paths: list[str], repository: str, revision: str, kind: Kind
) -> None:
    if missing := _unmatched(patterns, paths):
        wanted = ", ".join(each.replace("|", " or ") for each in missing)
        advice = "Check the repository and the revision in the configuration."
        if kind == "model" and fnmatch.filter(paths, "pytorch_model*.bin"):
            advice = (
                "Pickled weights can run code and are not read: convert them to safetensors with "
                "from_pretrained and save_pretrained, and use the folder."
            )
        raise InputError(
            f"The {kind} {repository} at revision {revision} has no file {wanted}; "
            f"found: {', '.join(sorted(paths)[:20]) or 'nothing'}. {advice}"
        )


@contextlib.contextmanager
def _explained(repository: str, revision: str, kind: Kind) -> Iterator[None]:
    """Turn the client's errors into an `InputError` that says what to do."""
    from huggingface_hub import constants, errors

    what = f"the {kind} {repository} at revision {revision}"
    try:
        yield
    except errors.HFValidationError as error:
        raise InputError(
            f"{repository!r} is not the name of a {kind} on the Hub: {error}"
        ) from error
    except errors.RepositoryNotFoundError as error:  # also raised for a gated one
        raise InputError(
            f"There is no {kind} {repository} at {constants.ENDPOINT}, or it is not accessible. "
            "Check its name in the configuration; if it is private, set HF_TOKEN."
        ) from error
    except errors.RevisionNotFoundError as error:
        raise InputError(
            f"The {kind} {repository} has no revision {revision}. "
            "Check the revision in the configuration; it is a commit, a tag or a branch."
        ) from error
    except errors.RemoteEntryNotFoundError as error:
        raise InputError(
            f"A file of {what} is listed but missing at {constants.ENDPOINT}: "
            f"{getattr(error.response, 'url', error)}. Try again, or choose another revision."
        ) from error
    # `errors.HTTPError` belongs to whichever HTTP client the library uses. Failed connections
    # raise it, too, if there is no cache to fall back to.
    except (
        errors.LocalEntryNotFoundError,
        errors.OfflineModeIsEnabled,
        errors.HTTPError,  # type: ignore[attr-defined]
        errors.FileMetadataError,
    ) as error:
        advice = "Run once with a connection"
        if constants.is_offline_mode():
            reason = "HF_HUB_OFFLINE forbids requests to the Hub"
        elif _is_busy(error):
            reason = f"the Hub is busy at {constants.ENDPOINT} ({_first_line(error)})"
            advice = "Give the same command again in some minutes"
        else:
            reason = f"the Hub does not answer at {constants.ENDPOINT} ({_first_line(error)})"
        raise InputError(
            f"Some files of {what} are not in the cache ({constants.HF_HUB_CACHE}), and {reason}. "
            f"{advice}; or set HF_ENDPOINT to a mirror; or copy the cache of another machine and "
            "set HF_HOME to it; or configure another source than the Hub."
        ) from error


def _is_busy(error: BaseException | None) -> bool:
    """Whether the Hub did answer: too many requests (429), or a fault of its own (5xx)."""
    while error is not None:
        status = getattr(getattr(error, "response", None), "status_code", 0)
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return True
        error = error.__cause__
    return False


def _first_line(error: BaseException) -> str:
    """First line of the innermost cause, the most specific one (refused, timed out, 503)."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
