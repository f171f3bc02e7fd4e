"""Jobs in threads: progress, cancelling, limits, errors as sentences."""

import threading
from collections.abc import Iterator

import pytest

from fewgold.errors import DataError, FewgoldError
from fewgold.web.jobs import Jobs, Progress
from waiting import PATIENCE


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs(running=2, kept=3)
    yield made
    made.close()


def test_a_job_reports_its_progress_and_keeps_its_result(jobs: Jobs) -> None:
    half, on = threading.Event(), threading.Event()

    def work(progress: Progress) -> int:
        progress(1, 2)
        half.set()
        assert on.wait(PATIENCE)
        progress(2, 2)
        return 42

    job = jobs.start("counting", work, link="/x")
    assert half.wait(PATIENCE)
    assert (job.state, job.done, job.total, job.result) == ("running", 1, 2, None)
    on.set()
    assert job.wait(PATIENCE)
    assert (job.state, job.done, job.result, job.facts) == ("finished", 2, 42, {"link": "/x"})
    assert jobs.get(job.id) is job
    assert job.seconds is not None and job.elapsed == job.seconds


def test_a_cancelled_job_stops_where_it_reports(jobs: Jobs) -> None:
    reached, on, after = threading.Event(), threading.Event(), []

    def work(progress: Progress) -> None:
        reached.set()
        assert on.wait(PATIENCE)
        progress(1, 2)
        after.append("went on")

    job = jobs.start("long", work)
    assert reached.wait(PATIENCE)
    job.stop.set()
    assert job.stopping
    on.set()
    assert job.wait(PATIENCE)
    assert (job.state, after, job.stopping) == ("cancelled", [], False)
    assert job.thread is not None and not job.thread.is_alive()


def test_no_more_than_two_run_at_once(jobs: Jobs) -> None:
    on = threading.Event()
    first, second = (jobs.start("waiting", lambda _: on.wait(PATIENCE)) for _ in range(2))
    with pytest.raises(FewgoldError, match=r"2 jobs are running already.*cancel it"):
        jobs.start("third", lambda _: None)
    on.set()
    assert first.wait(PATIENCE) and second.wait(PATIENCE)
    assert jobs.start("third", lambda _: None).wait(PATIENCE)


def test_the_last_ones_are_kept(jobs: Jobs) -> None:
    made = []
    for k in range(5):
        made.append(jobs.start(f"job {k}", lambda _: None))
        assert made[-1].wait(PATIENCE)
    assert [j.title for j in jobs.all()] == ["job 4", "job 3", "job 2"]
    assert jobs.get(made[0].id) is None


def test_ids_differ_and_cannot_be_guessed(jobs: Jobs) -> None:
    one, other = (jobs.start("x", lambda _: None) for _ in range(2))
    assert one.id != other.id
    assert min(len(one.id), len(other.id)) >= 24  # 18 random bytes
    assert jobs.get("nothing") is None


def _refuse(_: Progress) -> None:
    raise DataError("the table has no rows.")


def _break(_: Progress) -> None:
    raise ZeroDivisionError("by zero")


def _exhaust(_: Progress) -> None:
    raise MemoryError


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (_refuse, "the table has no rows."),
        (_break, "This failed unexpectedly (ZeroDivisionError: by zero)."),
        (
            _exhaust,
            "There is not enough memory. Use fewer draws, budgets or strategies.",
        ),
    ],
)
def test_what_goes_wrong_is_a_sentence(jobs: Jobs, work: object, sentence: str) -> None:
    job = jobs.start("failing", work)  # type: ignore[arg-type]
    assert job.wait(PATIENCE)
    assert (job.state, job.sentence, job.result) == ("failed", sentence, None)


def test_threads_do_not_keep_the_server_from_ending(jobs: Jobs) -> None:
    on, stopped = threading.Event(), threading.Event()

    def work(progress: Progress) -> None:
        try:
            assert on.wait(PATIENCE)
            progress(1, 2)
        finally:
            stopped.set()

    job = jobs.start("long", work)
    assert job.thread is not None and job.thread.daemon
    jobs.close()
    on.set()
    assert stopped.wait(PATIENCE) and job.wait(PATIENCE)
    assert job.state == "cancelled"
