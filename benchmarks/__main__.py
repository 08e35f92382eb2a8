"""``python -m benchmarks [NAME ...]``: run all benchmarks, or those named."""

import sys
from importlib import import_module

NAMES = (
    "control_variates",
    "bootstrap",
    "campaign",
    "collect",
    "comparison",
    "long_tails",
    "crossed_components",
    "dashboard",
    "diagnose",
    "judge",
    "kills",
    "metrics",
    "plans",
    "pool_memory",
    "released_scores",
    "scoring",
    "simulate_speed",
    "slopes",
    "spread",
    "trajectories",
)


def main(chosen):
    for name in chosen or NAMES:
        print(f"\n== {name} ==", flush=True)
        import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
