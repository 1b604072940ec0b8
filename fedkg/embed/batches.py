"""Embeds the texts of concurrent callers together: while a batch is read, those who ask meanwhile make up the next one.

A model reads sixty texts in one batch in a fraction of the time of sixty batches. Where more is asked for than one
batch holds, each caller has its share of it, so that a question about a hub keeps the others waiting for one batch.
"""

import asyncio
import concurrent.futures
import contextvars
import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from fedkg.core.meter import count

__all__ = ["BATCH", "EmbeddingBatches", "Rows"]

Rows = dict[str, bytes]
"""Vectors by their text."""
Read = Callable[[Sequence[str]], Rows]

BATCH = 1_024
"""Texts that are embedded at once: about a second of a small model on one processor."""


@dataclass(eq=False, slots=True)
class _EmbeddingJob:
    """What one caller waits for: distinct texts, and the vectors of those that are there; `missing` are the others.

    `alone`: its texts failed together with those of others, and share no batch any more.
    """

    texts: Sequence[str]
    result: "concurrent.futures.Future[Rows]" = field(default_factory=concurrent.futures.Future)
    context: contextvars.Context = field(default_factory=contextvars.copy_context)
    rows: dict[str, bytes] = field(default_factory=dict)
    missing: Sequence[str] = ()
    alone: bool = False

    def take(self, rows: Rows) -> None:
        """Takes what is among these."""
        self.rows |= {text: rows[text] for text in self.texts if text in rows}
        self.missing = [text for text in self.texts if text not in self.rows]

    def fail(self, error: Exception) -> None:
        """Ends with the error, unless its caller has gone."""
        if self.result.set_running_or_notify_cancel():
            self.result.set_exception(error)


class EmbeddingBatches:
    """One worker thread for a model and a store: `kept` looks texts up, `fresh` has them embedded and keeps them.

    Both are called by that thread only.
    """

    def __init__(self, kept: Read, fresh: Read) -> None:
        self._kept = kept
        self._fresh = fresh
        self._lock = threading.Lock()
        self._new: list[_EmbeddingJob] = []
        self._active: list[_EmbeddingJob] = []
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fedkg-embed")

    @property
    def worker(self) -> ThreadPoolExecutor:
        """The thread, for other work of its callers."""
        return self._worker

    async def rows(self, texts: Sequence[str]) -> Rows:
        """The vectors of these distinct texts, all of one length.

        Raises what `kept` and `fresh` raise over these texts, and RuntimeError after `close`.
        """
        job = _EmbeddingJob(texts)
        with self._lock:
            self._new.append(job)
        self._worker.submit(self._work)
        return await asyncio.wrap_future(job.result)

    def close(self) -> None:
        """Lets the thread end after the batch that it is at; who waits is cancelled."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for job in (*self._new, *self._active):
                job.result.cancel()

    def _work(self) -> None:
        """Works until nobody waits; what comes meanwhile is taken in between two batches."""
        while True:
            self._take_in()
            if not self._active:
                return
            self._batch()
            self._settle()

    def _take_in(self) -> None:
        """Looks up what the new jobs ask for, all at once."""
        with self._lock:
            new, self._new = [job for job in self._new if not job.result.cancelled()], []
            self._active += new
        if not new:
            return
        try:
            rows = self._kept(list(dict.fromkeys(text for job in new for text in job.texts)))
        except Exception as error:  # noqa: BLE001  # whatever it is, who waits has to hear of it
            self._end(new, error)
            return
        for job in new:
            job.take(rows)
        self._settle()

    def _batch(self) -> None:
        """Embeds one batch, and gives to all what is in it."""
        jobs = [job for job in self._active if job.alone][:1] or self._active
        share = max(1, BATCH // len(jobs))
        owners: dict[str, _EmbeddingJob] = {}
        for job in jobs:
            for text in itertools.islice(job.missing, share):
                owners.setdefault(text, job)
        try:
            rows = self._fresh(list(owners))
        except Exception as error:  # noqa: BLE001  # see above
            self._failed(jobs, error)
            return
        for job in jobs:
            mine = sum(owner is job for owner in owners.values())
            job.context.run(count, "labels_embedded", mine)
        for job in self._active:
            job.take(rows)

    def _failed(self, jobs: list[_EmbeddingJob], error: Exception) -> None:
        """One job's error is its own; where several share a batch each is tried alone, to find out whose it is."""
        if len(jobs) == 1:
            self._end(jobs, error)
        for job in jobs:
            job.alone = True

    def _settle(self) -> None:
        """Ends the jobs that have all, and forgets those whose callers have gone."""
        done = [job for job in self._active if not job.missing and not job.result.cancelled()]
        for job in done:
            try:
                rows = self._of_one_length(job)
            except Exception as error:  # noqa: BLE001  # see above
                job.fail(error)
                continue
            if job.result.set_running_or_notify_cancel():
                job.result.set_result(rows)
        self._drop([job for job in self._active if job.result.done()])

    def _of_one_length(self, job: _EmbeddingJob) -> Rows:
        """Its vectors; embedded anew where the model behind the name has changed."""
        return job.rows if len(set(map(len, job.rows.values()))) <= 1 else self._fresh(job.texts)

    def _end(self, jobs: Sequence[_EmbeddingJob], error: Exception) -> None:
        for job in jobs:
            job.fail(error)
        self._drop(jobs)

    def _drop(self, jobs: Sequence[_EmbeddingJob]) -> None:
        with self._lock:
            self._active = [job for job in self._active if job not in jobs]
