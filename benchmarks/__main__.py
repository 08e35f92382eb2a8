"""``python -m benchmarks [NAME ...]``: run all benchmarks but the long ones, or those named.

The long ones, which keep their results and make ``docs/benchmarks.md``, are named: honesty, speed, faults.
"""

import sys
from importlib import import_module

NAMES = (
    "control_variates",
    "collect",
    "crossed_components",
    "dashboard",
    "judge",
    "judges",
    "kills",
    "looks",
    "metrics",
    "next_outputs",
    "plans",
    "pool_memory",
    "released_scores",
    "scoring",
    "trajectories",
)


def main(chosen):
    for name in chosen or NAMES:
        print(f"\n== {name} ==", flush=True)
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
