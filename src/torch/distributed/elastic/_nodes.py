"""How the launchers of several machines agree, in a store, on who takes part.

A run goes in rounds. In each, machines take seats; whoever has the first waits until there are enough and says how many
it is that begin. A round ends for all of them when a process has failed, when a machine has gone, or when another one
wants to come in and there is room. Then those that are there take seats in the next one. All say the same of a round,
since its end is stored once (`over`), with the number of failures up to then.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from torch.distributed._errors import DistStoreError

if TYPE_CHECKING:
    from torch.distributed._store import Store

POLL_SECONDS = 0.05
BEAT_SECONDS = 1.0
LEAVING_SECONDS = 10.0


@dataclass
class Terms:
    """How many machines there may be, which of them this is (None: as they come), and how long they wait."""

    low: int
    high: int
    node: int | None
    patience: timedelta = timedelta(seconds=900)
    last_call: timedelta = timedelta(seconds=30)
    keep_alive: timedelta = timedelta(seconds=15)


@dataclass
class Seat:
    """This machine's place in a round: its number among `nodes`, and the ranks of its processes among `total`."""

    round: int
    number: int
    nodes: int
    first: int
    total: int
    failures: int
    beats: dict[int, tuple[bytes, float]] = field(default_factory=dict)
    looked: float = 0.0

    def key(self, name: str) -> str:
        """A name of this round in the store."""
        return f"round/{self.round}/{name}"


class Nodes:
    """The machines of a run, as one of them sees the others."""

    def __init__(self, store: Store, terms: Terms, processes: int) -> None:
        self.store, self.terms, self.processes = store, terms, processes
        self.next = store.add("round", 0)

    def join(self) -> Seat:
        """Takes a seat, in a later round if this one has begun. DistStoreError if too few machines come in time."""
        while True:
            number, self.next = self.next, self.next + 1
            key, store = f"round/{number}", self.store
            place = self._take(key)
            store.add(f"{key}/beat/{place}", 0)
            store.set(f"{key}/seat/{place}", str(self.processes))
            if place == 0:
                store.set(f"{key}/nodes", str(self._count(key)))
            nodes = int(self._patiently(f"{key}/nodes", f"{key}/joined"))
            if place < nodes:
                break
            store.set(f"{key}/waiting", "1")
            while not store.check([f"{key}/over"]):
                time.sleep(POLL_SECONDS)
        counts = [int(count) for count in store.multi_get([f"{key}/seat/{other}" for other in range(nodes)])]
        failures = self._over(number - 1)["failures"] if number else 0
        return Seat(number, place, nodes, sum(counts[:place]), sum(counts), failures)

    def _take(self, key: str) -> int:
        seats = self.store.add(f"{key}/joined", 1)
        if self.terms.node is None:
            return seats - 1
        if self.store.add(f"{key}/taken/{self.terms.node}", 1) > 1:
            raise ValueError(f"--node-rank {self.terms.node} is another machine's")
        return self.terms.node

    def _count(self, key: str) -> int:
        """How many machines the round begins with: all that may come, or those that have when the last call is over."""
        terms, start = self.terms, time.monotonic()
        enough: float | None = None
        while (joined := self.store.add(f"{key}/joined", 0)) < terms.high:
            now = time.monotonic()
            if joined >= terms.low:
                enough = enough or now
                if now - enough >= terms.last_call.total_seconds():
                    break
            elif now - start > terms.patience.total_seconds():
                raise DistStoreError(self._too_few(joined))
            time.sleep(POLL_SECONDS)
        return min(joined, terms.high)

    def _patiently(self, name: str, joined: str) -> bytes:
        try:
            self.store.wait([name], self.terms.patience + self.terms.last_call)
        except DistStoreError:
            raise DistStoreError(self._too_few(self.store.add(joined, 0))) from None
        return self.store.get(name)

    def _too_few(self, joined: int) -> str:
        seconds = self.terms.patience.total_seconds()
        return f"{joined} of at least {self.terms.low} machines have come within {seconds:g} seconds"

    def _over(self, number: int) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.store.get(f"round/{number}/over"))
        return said

    def end(self, seat: Seat, why: str, failed: bool) -> dict[str, Any]:
        """Ends the round, unless somebody has: why it has ended ("why", "failures")."""
        said = {"why": why, "failures": seat.failures + failed}
        self.store.compare_set(seat.key("over"), "", json.dumps(said))
        self.store.set("round", str(seat.round + 1))  # where newcomers begin to look; a later word for it is no harm
        return self._over(seat.round)

    def look(self, seat: Seat) -> dict[str, Any] | None:
        """Why the round is over, or None while it goes on."""
        if seat.nodes == self.terms.high == 1:
            return None
        if self.store.check([seat.key("over")]):
            return self._over(seat.round)
        now = time.monotonic()
        if now - seat.looked < BEAT_SECONDS:
            return None
        seat.looked = now
        if seat.nodes < self.terms.high and self.store.check([seat.key("waiting")]):
            return self.end(seat, "another machine has come", failed=False)
        self.store.add(seat.key(f"beat/{seat.number}"), 1)
        for other in range(seat.nodes):
            beat = self.store.get(seat.key(f"beat/{other}"))
            if other == seat.number or self.store.check([seat.key(f"done/{other}")]):
                continue
            before, since = seat.beats.get(other, (b"", now))
            seat.beats[other] = (beat, since if beat == before else now)
            if now - seat.beats[other][1] > self.terms.keep_alive.total_seconds():
                return self.end(seat, f"machine {other} is not heard of any more", failed=False)
        return None

    def all_done(self, seat: Seat) -> bool:
        """Says that this machine's processes have ended well, and whether all others' have."""
        self.store.set(seat.key(f"done/{seat.number}"), "1")
        return self.store.check([seat.key(f"done/{other}") for other in range(seat.nodes)])

    def leave(self, seat: Seat, serves: bool) -> None:
        """Says that this machine needs the store no more; who serves it waits for the others."""
        left = self.store.add(seat.key("left"), 1)
        end = time.monotonic() + LEAVING_SECONDS
        while serves and left < seat.nodes and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
            left = self.store.add(seat.key("left"), 0)
