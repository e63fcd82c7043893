"""How long a second process waits for a store that 20 threads keep busy.

Prints percentiles of the time one unit of work takes in the second process, and the ratio to the
same in a store nobody else uses. Run: python -m tests.benchmarks.store
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from app.engines.store import Store

HOLD, THREADS, ROUNDS = 0.3, 20, 20
SECOND = """
import sys, time
from pathlib import Path
from app.engines.store import Store
store = Store.at(Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    began = time.perf_counter()
    with store.work() as unit:
        unit.rows("executions_list", {"collection": None, "fingerprint": None, "name": None})
    print(time.perf_counter() - began, flush=True)
    time.sleep(0.2)
"""


def second_process(path: Path) -> np.ndarray:
    """Seconds that each unit of work took in a process of its own."""
    words = [sys.executable, "-c", SECOND, str(path), str(ROUNDS)]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    return np.array([float(line) for line in result.stdout.split()])


def busy(store: Store, stop: threading.Event, delay: float) -> None:
    """Hold the store 0.3 s about once a second, from `delay` on."""
    stop.wait(delay)
    while not stop.is_set():
        with store.work():
            time.sleep(HOLD)
        stop.wait(0.7)


def main() -> None:
    """Measure alone, then beside the busy threads."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "desk.duckdb"
        store = Store.at(path)
        with store.work():
            pass
        alone = second_process(path)
        stop = threading.Event()
        threads = [
            threading.Thread(target=busy, args=(store, stop, n / THREADS)) for n in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        beside = second_process(path)
        stop.set()
        for thread in threads:
            thread.join()
    for name, values in (("alone", alone), ("beside 20 threads", beside)):
        p50, p95 = np.percentile(values, [50, 95])
        print(f"{name}: p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, max {values.max():.2f} s")
    print(f"ratio of medians: {np.median(beside) / np.median(alone):.1f}")


if __name__ == "__main__":
    main()
