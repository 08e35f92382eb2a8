"""`control_variates` on 1,000 judgments and a pool of ten million, against `ppi_py`."""

import numpy as np
from ppi_py import ppi_mean_ci

from benchmarks.measuring import megabytes, seconds
from steelyard import control_variates


def main(n=1_000, size=10_000_000):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=size)
    human = 0.5 * pool[:n] + rng.normal(size=n)

    def ours():
        return control_variates(human, pool[:n], pool)

    def peer():
        return ppi_mean_ci(human, pool[:n], pool[n:], alpha=0.05)

    print(f"n = {n:,}, N = {size:,}")
    times = {"steelyard": seconds(ours), "ppi_py": seconds(peer)}
    memory = {"steelyard": megabytes(ours), "ppi_py": megabytes(peer)}
    for name, time in times.items():
        print(f"{name:10}  {time:8.4f} s  {memory[name]:8.1f} MB beyond the arrays")
    print(f"ratio of times {times['ppi_py'] / times['steelyard']:.1f}")
    low, high = (float(np.ravel(end)[0]) for end in peer())
    print(
        f"intervals: steelyard [{ours().low:.4f}, {ours().high:.4f}], ppi_py [{low:.4f}, {high:.4f}]"
    )


if __name__ == "__main__":
    main()
