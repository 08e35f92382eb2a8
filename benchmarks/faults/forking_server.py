"""`steelyard serve` again and again, each a process that is forked when all modules are loaded.

A start takes a tenth of the time. Each line of the standard input starts one; its number is printed
first, then all that the command prints, and `ended` when it is no more.
"""

import os
import sys

import click

from steelyard.cli.main import main
from steelyard.collect.web import serving

if __name__ == "__main__":
    assert serving  # loaded before the first fork
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            os.setsid()
            click.echo(os.getpid())
            main(sys.argv[1:])
        os.waitpid(child, 0)
        click.echo("ended")
