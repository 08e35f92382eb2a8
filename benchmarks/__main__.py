"""``python -m benchmarks [NAME ...]``: run all benchmarks but the long ones, or those named.

The long ones, which keep their results and make ``docs/benchmarks.md``, are named: honesty, speed, faults.
"""

import sys
from importlib import import_module

NAMES = (
    "collect",
    "judge",
    "judges",
    "kills",
    "looks",
    "next_outputs",
    "plans",
)


def main(chosen):
    for name in chosen or NAMES:
        print(f"\n== {name} ==", flush=True)
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
