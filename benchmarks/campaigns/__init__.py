"""Simulated campaigns through `estimate` and `compare` of two source trees: old beside new beside plain t.

    python -m benchmarks.campaigns --old SRC [--new SRC] [--kinds KIND ...] [--k K ...] [--n N ...] [--p P ...]
        [--same 1 0] [--equal 0 1] [--raters R ...] [--reps REPS] [--level LEVEL] [--jobs JOBS] [-o FILE]
    python -m benchmarks.campaigns paper --old SRC --data FOLDER
    python -m benchmarks.campaigns speed --old SRC
    python -m benchmarks.campaigns direct [--kinds KIND ...]     this tree's model alone, without files: quick
    python -m benchmarks.campaigns choices                       what each choice of the model buys

SRC is the folder that holds the package of a tree, such as an older commit checked out beside this one; ``--new`` is this tree
unless said. Both trees get the same campaigns and answer with all their defaults. Squared errors and widths are relative to those of
plain means: Student's t for means, paired t for differences where one system's items are among the other's, else Welch's. What a
target is missed by more than two standard errors is named in the last column, and counts in the exit status: 1.
"""
