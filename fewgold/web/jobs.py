"""Long computations in threads, with progress, which can be cancelled."""

from __future__ import annotations

import atexit
import logging
import secrets
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fewgold.errors import FewgoldError

Progress = Callable[[int, int], None]
Work = Callable[[Progress], Any]

_LOG = logging.getLogger(__name__)


class CancelledError(Exception):
    """Raised inside a job that should stop, when it reports its progress."""


@dataclass(eq=False)
class Job:
    """One job. Pages read it; only its own thread writes to it.

    Its ``id`` cannot be guessed. ``facts`` are what pages need besides the result, and ``state`` is
    ``running``, ``finished``, ``cancelled`` or ``failed``.
    """

    id: str
    title: str
    facts: dict[str, Any] = field(default_factory=dict)
    state: str = "running"
    done: int = 0
    total: int = 0
    result: Any = None
    sentence: str = ""
    begun: float = field(default_factory=time.monotonic)
    seconds: float | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop but has not stopped yet."""
        return self.state == "running" and self.stop.is_set()

    @property
    def elapsed(self) -> float:
        """Seconds since it began, or that it took in all."""
        return time.monotonic() - self.begun if self.seconds is None else self.seconds

    def report(self, done: int, total: int) -> None:
        """Report progress; this is where a job stops when asked to."""
        self.done, self.total = done, total
        if self.stop.is_set():
            raise CancelledError

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended; False if the time runs out first."""
        if self.thread is not None:
            self.thread.join(seconds)
        return self.state != "running"


class Jobs:
    """Jobs of this server: a few run at once, and the latest finished ones are kept.

    Examples
    --------
    >>> jobs = Jobs()
    >>> job = jobs.start("adding", lambda progress: sum(range(4)))
    >>> job.wait(), job.state, job.result
    (True, 'finished', 6)
    """

    def __init__(self, running: int = 2, kept: int = 20) -> None:
        self.running, self.kept = running, kept
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        own = weakref.ref(self)
        atexit.register(lambda: None if (jobs := own()) is None else jobs.close())

    def start(self, title: str, work: Work, **facts: Any) -> Job:
        """Start a job; an error if too many are running."""
        job = Job(secrets.token_urlsafe(18), title, facts)
        job.thread = threading.Thread(target=_run, args=(job, work), name="job", daemon=True)
        with self._lock:
            busy = sum(j.state == "running" for j in self._jobs.values())
            if busy >= self.running:
                raise FewgoldError(
                    f"{busy} jobs are running already, which is the limit. Wait for one of them, "
                    "or cancel it."
                )
            over = [j.id for j in self._jobs.values() if j.state != "running"]
            for old in over[: max(len(over) - self.kept + 1, 0)]:
                del self._jobs[old]
            self._jobs[job.id] = job
            job.thread.start()
        return job

    def get(self, id: str) -> Job | None:
        """The job with this id, if there is one."""
        with self._lock:
            return self._jobs.get(id)

    def all(self) -> list[Job]:
        """All jobs, latest first."""
        with self._lock:
            return list(self._jobs.values())[::-1]

    def close(self) -> None:
        """Ask all jobs to stop when the server ends. Their threads do not keep it running."""
        for job in self.all():
            job.stop.set()


def _run(job: Job, work: Work) -> None:
    state, sentence, result = "failed", "", None
    try:
        job.report(0, 0)
        result = work(job.report)
        state = "finished"
    except CancelledError:
        state = "cancelled"
    except FewgoldError as error:
        sentence = error.message_for("web")
    except MemoryError:
        sentence = "There is not enough memory. Use fewer draws, budgets or strategies."
    except Exception as error:
        _LOG.exception("a job failed")
        sentence = f"This failed unexpectedly ({type(error).__name__}: {error})."
    job.result, job.sentence, job.seconds = result, sentence, time.monotonic() - job.begun
    job.state = state  # set last: a finished job has its result
