"""Where the cells run: in this process, on this machine's cores, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from fewgold._validate import check_choice
from fewgold.errors import FewgoldError

BACKENDS = ("loky", "threading", "multiprocessing", "dask")


@contextmanager
def running_on(
    backend: str | None = None, scheduler: str | None = None, n_jobs: int | None = None
) -> Iterator[None]:
    """Run simulations within this context on a joblib backend.

    ``dask`` goes to the cluster behind the address ``scheduler``, or to one on this machine where
    no address is given; its workers need fewgold installed. All else about `simulate` stays the
    same, its figures included.
    """
    from joblib import parallel_config

    if backend is None:
        if scheduler is not None:
            raise FewgoldError("a scheduler goes with the dask backend. Add backend='dask'.")
        with parallel_config(n_jobs=n_jobs):
            yield
        return
    check_choice("backend", backend, BACKENDS)
    if backend != "dask":
        if scheduler is not None:
            raise FewgoldError(f"a scheduler goes with the dask backend; got {backend!r}.")
        with parallel_config(backend, n_jobs=-1 if n_jobs is None else n_jobs):
            yield
        return
    try:
        import distributed
    except ImportError:
        raise FewgoldError(
            'the dask backend needs dask. Install it: pip install "fewgold[cluster]".'
        ) from None
    dask: Any = distributed
    with ExitStack() as open_until_done:
        try:
            cluster = scheduler or open_until_done.enter_context(
                dask.LocalCluster(n_workers=n_jobs, dashboard_address=":0")
            )
            open_until_done.enter_context(dask.Client(cluster, timeout="10s"))
        except (OSError, ValueError, TimeoutError) as error:
            raise FewgoldError(f"no dask scheduler answers at {scheduler!r}: {error}") from None
        with parallel_config("dask", n_jobs=-1):
            yield
