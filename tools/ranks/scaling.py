"""The model of a step on N ranks: its quantities, fitted to measured times, and what they give for ranks and networks that were not measured.

  T(N) = contention * (shards / N * shard + updates) + exposed(N)
  exchange(N) = 2 * buckets * (latency + (N - 1) * message) + 2 * (N - 1) / N * bytes * (byte + sum)
  exposed(N) = exchange(N) - min(hidden * early / buckets * exchange(N), shard)

Milliseconds and bytes. `shard` and `updates`: of steps with 2 to 16 shards on one rank. `latency`, `message`, `byte`: of messages between two ranks,
one and several at a time. `sum`: of values joined by two ranks, beyond their messages. `contention`: of two processes side by side, over one alone.
`early`: the buckets that leave before the step is computed. `hidden`, how much of what leaves early costs nothing, is fitted to the steps on two ranks.
"""
import dataclasses
import itertools

import numpy as np


def fitted(columns, times):
    """Coefficients, none negative, with the least sum of squares of relative errors. The columns are few: every set of those above zero is tried."""
    columns, times = np.asarray(columns, float), np.asarray(times, float)
    scaled = columns / times[:, None]
    best, least = np.zeros(columns.shape[1]), np.inf
    for kept in itertools.product((False, True), repeat=columns.shape[1]):
        kept = np.array(kept)
        # (Of very different sizes: seconds a byte beside seconds a message.)
        sizes = np.abs(scaled[:, kept]).max(axis=0, initial=1e-300)
        found = np.zeros(len(kept))
        found[kept] = np.linalg.lstsq(scaled[:, kept] / sizes, np.ones(len(times)), rcond=None)[0] / sizes
        error = np.sum((scaled @ found - 1) ** 2)
        if (found >= 0).all() and error < least:
            best, least = found, error
    return best


@dataclasses.dataclass
class Link:
    """How messages travel: of `count` at a time of `size` bytes, both ways, latency + count * (message + size * byte)."""
    latency: float
    message: float
    byte: float
    sum: float = 0.0
    errors: tuple = ()  # relative, of the messages and joins that it is fitted to: the median and the largest

    @property
    def gigabytes(self):
        """A second, each way."""
        return 1e-6 / self.byte if self.byte > 0 else float("inf")

    def time(self, count, size):
        return self.latency + count * (self.message + size * self.byte)

    def exchange(self, ranks, size, buckets):
        """Values of `size` bytes in all, joined by all ranks."""
        return 2 * buckets * (self.latency + (ranks - 1) * self.message) + 2 * (ranks - 1) / ranks * size * (self.byte + self.sum)

    def over(self, gigabits, microseconds):
        """With a network between: its latency comes to that of the programs, and the slower of both limits the bytes."""
        return dataclasses.replace(self, latency=self.latency + microseconds / 1e3, byte=max(self.byte, 8e-6 / gigabits))


def fit_link(messages, joins):
    """messages: [(count, size, ms)]; joins of two ranks: [(size, ms)]."""
    counts, sizes, times = map(np.array, zip(*messages))
    link = Link(*fitted(np.stack([np.ones(len(counts)), counts, counts * sizes], axis=1), times))
    joined, took = map(np.array, zip(*joins))
    moved = np.array([link.exchange(2, size, 1) for size in joined])
    # Small joins say nothing of it, and their relative errors are large: each counts by its bytes.
    link.sum = max(0.0, float(np.sum((took - moved) * joined) / np.sum(joined.astype(float) ** 2)))
    found = [link.time(count, size) for count, size, _ in messages] + [link.exchange(2, size, 1) for size in joined]
    off = np.abs(np.array(found) / np.concatenate([times, took]) - 1)
    link.errors = float(np.median(off)), float(np.max(off))
    return link


@dataclasses.dataclass
class Model:
    shard: float
    updates: float
    contention: float
    bytes: float
    buckets: float
    early: float
    hidden: float = 0.0

    def step(self, ranks, shards, link, contention=1.0, cores=None):
        """`cores`, where the ranks share a machine: those without a core of their own take turns."""
        exchange = link.exchange(ranks, self.bytes, self.buckets) if ranks > 1 else 0.0
        exposed = exchange - min(self.hidden * self.early / self.buckets * exchange, self.shard)
        turns = max(1.0, ranks / cores) if cores else 1.0
        return turns * (contention * (shards / ranks * self.shard + self.updates) + exposed)

    def efficiency(self, ranks, shards, link):
        """The part of N times the speed of one rank."""
        return self.step(1, shards, link) / (ranks * self.step(ranks, shards, link))

    def with_shard(self, milliseconds):
        return dataclasses.replace(self, shard=milliseconds)


def fit_model(alone, side_by_side, size, buckets, early, pairs, shards):
    """alone: [(shards, ms)] of one rank; side_by_side: of two, over one alone; pairs: [(link, ms)], the steps on two ranks."""
    shard, updates = fitted([(count, 1) for count, _ in alone], [took for _, took in alone])
    model = Model(float(shard), float(updates), max(1.0, side_by_side), size, buckets, early)
    errors = {}
    for hidden in np.linspace(0, 1, 1001):
        model.hidden = float(hidden)
        predicted = np.array([model.step(2, shards, link, model.contention) for link, _ in pairs])
        errors[model.hidden] = float(np.sum((predicted / np.array([took for _, took in pairs]) - 1) ** 2))
    model.hidden = min(errors, key=errors.get) if pairs else 0.0
    return model
