"""How much is measured: the full plan, the quick one, and the options that change them."""

import argparse
import dataclasses

from lineup import CORE, DIRECT, EXTRAS, LEDGERGATE, PINNING, UNIX
from throughput import Cell

PROTOCOLS = ("simple", "extended", "prepared")
CLIENTS = (1, 8, 32)
SECTIONS = ("throughput", "syscalls", "pins", "copy", "memory")


@dataclasses.dataclass(frozen=True)
class Plan:
    names: tuple
    sections: tuple
    cells: tuple
    rounds: int
    seconds: int
    traced_transactions: int   # of each client
    pin_clients: tuple
    pin_rounds: int
    pin_seconds: float
    delay_microseconds: int
    bulk_bytes: int
    bulk_rounds: int
    idle_sessions: int

    @property
    def needs_ledgergate(self):
        return LEDGERGATE in self.names or PINNING in self.names


def parse(arguments):
    """The plan and the options beside it; a wrong option ends the program with the usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    is_quick = options.quick
    everyone = CORE + EXTRAS
    names = _chosen(parser, "--only", options.only, CORE if is_quick else everyone, everyone)
    if UNIX in names and LEDGERGATE not in names:
        parser.error(f"--only: {UNIX} needs {LEDGERGATE}, since it is another way to the same process")
    return Plan(
        names=tuple(dict.fromkeys((DIRECT, *names))),
        sections=_chosen(parser, "--sections", options.sections, SECTIONS, SECTIONS),
        cells=_cells(parser, options),
        rounds=options.rounds or 3,
        seconds=options.seconds or (1 if is_quick else 2),
        traced_transactions=1000 if is_quick else 3000,
        pin_clients=(1,) if is_quick else (1, 8),
        pin_rounds=options.rounds or (3 if is_quick else 9),
        pin_seconds=0.2 if is_quick else 0.4,
        delay_microseconds=options.delay_us,
        bulk_bytes=100_000_000 if is_quick else 200_000_000,
        bulk_rounds=2 if is_quick else 5,
        idle_sessions=200), options


def _parser():
    parser = argparse.ArgumentParser(prog="tests/bench/run", description=(
        "Measures ledgergate beside HAProxy and PgBouncer, all between pgbench and one throw-away server. "
        "LEDGERGATE_BIN_DIR says where ledgergate is; without it the release preset is built."))
    add = parser.add_argument
    add("--quick", action="store_true", help="2 minutes in place of 12: fewer cells and shorter rounds")
    add("--only", metavar="NAMES", help=f"of {','.join(CORE + EXTRAS)}; {DIRECT} always takes part")
    add("--sections", metavar="NAMES", help=f"of {','.join(SECTIONS)}")
    add("--protocols", metavar="NAMES", help=f"of {','.join(PROTOCOLS)} (first table)")
    add("--clients", metavar="NUMBERS", type=_numbers, help="such as 1,8,32 (first table)")
    add("--rounds", metavar="N", type=_number, help="rounds of each cell (first and second table)")
    add("--seconds", metavar="N", type=_number, help="seconds of a round (first table)")
    add("--delay-us", metavar="N", type=_number, default=500,
        help="what the network of the second table adds to a round trip (default: 500 microseconds)")
    add("--tpcb", action="store_true", help="also writing transactions, with 8 clients (first table)")
    add("--json", metavar="FILE", help="write the facts, the raw samples and the tables to this file")
    add("--markdown", action="store_true", help="print the tables as Markdown")
    return parser


def _cells(parser, options):
    protocols = _chosen(parser, "--protocols", options.protocols, PROTOCOLS, PROTOCOLS)
    counts = options.clients or CLIENTS
    cells = [Cell("select", protocol, clients) for protocol in protocols for clients in counts]
    if options.quick and not options.protocols and not options.clients:
        # Every protocol and every number of clients occurs, but not every pair.
        cells = [cell for cell in cells if cell.protocol == "prepared" or cell.clients == 8]
    if options.tpcb:
        cells += [Cell("tpcb", protocol, 8) for protocol in protocols]
    return tuple(cells)


def _chosen(parser, option, text, default, known):
    names = tuple(text.split(",")) if text else default
    for name in names:
        if name not in known:
            parser.error(f"{option}: {name!r} is none of {', '.join(known)}")
    return names


def _number(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _numbers(text):
    return tuple(_number(part) for part in text.split(","))
