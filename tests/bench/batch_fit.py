"""Fits IPT__BATCH_COST_LIST and batch_width of gen/library/device/speed.h to what batch_choice measured.

batch_fit.py [--check FILE] [--steps 12000] FILE ...; FILE: the lines of `make bench NAME=batch-choice`. Prints the table, and how
much slower than the fastest candidate the choice is. Lines of --check are not fitted. Needs the package numpy.
"""
import argparse
import csv

import numpy as np

MODELS = ["registers", "item", "memory", "group", "interleaved", "work-group", "large"]
COLUMNS = ["element", "barrier", "turn", "pivoted", "inverse", "far_byte", "near_byte"]
TRANSFER = 4000.0  # bytes of operands in a nanosecond, at best
LAUNCH = 4000.0  # nanoseconds
# The fit minimises the loss of a soft choice that prefers cheaper candidates (15 % of the cost: a factor of e). To keep
# costs near times, it also minimises the squares of logarithmic errors, with more weight for faster candidates.
SOFTNESS, TIMES = 0.15, 0.2


class Cases:
    """The lines of measured cases; `first` begins each case, `case` is a line's."""

    def __init__(self, files):
        lines, self.first, last = [], [], None
        for file in files:
            for line in csv.DictReader(text for text in open(file) if not text.startswith("#")):
                key = [file] + [line[name] for name in ("action", "type", "m", "n", "k", "count", "element_bytes")]
                if key != last:
                    self.first.append(len(lines))
                    last = key
                lines.append(line)
        number = {name: np.array([float(line[name]) for line in lines])
                  for name in ("barriers", "turns", "far_bytes", "near_bytes", "waves", "items", "us", "count")}
        moved = np.array([float(line["moved_bytes"]) for line in lines])
        self.case = np.repeat(np.arange(len(self.first)), np.diff(self.first + [len(lines)]))
        self.model = np.array([MODELS.index(line["model"]) for line in lines])
        kind = np.array([["plain", "pivoted", "inverse"].index(line["kind"]) for line in lines])
        terms = [np.ones(len(lines)), number["barriers"]] + [number["turns"] * (kind == k) for k in range(3)]
        self.terms = np.stack(terms + [number["far_bytes"], number["near_bytes"]], axis=1)
        self.waves, self.items, self.time = number["waves"], number["items"], number["us"] * 1e3
        self.transfer = moved * number["count"] / TRANSFER
        self.slower = self.time / self.least(self.time) - 1
        self.chosen = np.array([line["chosen"] == "1" for line in lines])

    def least(self, values):
        return np.minimum.reduceat(values, self.first)[self.case]

    def cost(self, table, width):
        return (self.terms * table[self.model]).sum(axis=1) * (self.waves + self.items / width)

    def losses(self, cost):
        return self.slower[[first + int(np.argmin(part)) for first, part in
                            zip(self.first, np.split(cost, self.first[1:]))]]

    def objective(self, table, width):
        cost = self.cost(table, width) + 1e-9
        weight = np.exp(-(np.log(cost) - self.least(np.log(cost))) / SOFTNESS)
        share = weight / np.add.reduceat(weight, self.first)[self.case]
        error = np.log((LAUNCH + np.hypot(self.transfer, cost)) / self.time)
        return ((share * np.minimum(self.slower, 1.5)).sum() / len(self.first) +
                TIMES * np.mean((1 + self.slower) ** -1.5 * np.minimum(error * error, 1)))


def fit(cases, steps):
    """Steps at random that shrink, of which the good ones stay."""
    random = np.random.default_rng(2)
    table = np.tile([300.0, 20, 15, 15, 15, 15, 5], (len(MODELS), 1))
    for model, column in (("registers", "turn"), ("registers", "near_byte"), ("memory", "near_byte"),
                          ("large", "far_byte"), ("large", "near_byte"), ("work-group", "far_byte")):
        table[MODELS.index(model), COLUMNS.index(column)] = 0
    for model in ("registers", "item", "memory"):  # one lane: no barriers
        table[MODELS.index(model), :2] = 0
    free = np.argwhere(table > 0)
    width, best = 2000.0, cases.objective(table, 2000.0)
    for step in range(steps):
        new, new_width = table.copy(), width
        spread = 0.3 * (1 - 0.7 * step / steps)
        for row, column in free[random.integers(len(free), size=random.integers(1, 4))]:
            new[row, column] *= np.exp(random.normal() * spread)
        if random.random() < 0.15:
            new_width *= np.exp(random.normal() * spread)
        value = cases.objective(new, new_width)
        if value < best:
            table, width, best = new, new_width, value
    return table, width


def describe(losses):
    losses = np.sort(losses)
    return (f"{len(losses)} cases: median {100 * np.median(losses):.1f} %, mean {100 * losses.mean():.1f} %, "
            f"90th percentile {100 * losses[len(losses) * 9 // 10]:.1f} %, worst {100 * losses[-1]:.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="append", default=[], metavar="FILE")
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("files", nargs="+", metavar="FILE")
    given = parser.parse_args()
    cases = Cases(given.files)
    table, width = fit(cases, given.steps)
    table = np.array([[float(f"{value:.2g}") for value in row] for row in table])
    width = float(f"{width:.2g}")
    print(" " * 14 + ", ".join(COLUMNS))
    for model, row in zip(MODELS, table):
        print(f"    M({model.replace('-', '_')}, {', '.join(f'{value:g}' for value in row)}) \\")
    print(f"batch_width {width:g}")
    print("measured choice,", describe(cases.slower[cases.chosen]))
    print("fitted choice,", describe(cases.losses(cases.cost(table, width))))
    if given.check:
        check = Cases(given.check)
        print("not fitted,", describe(check.losses(check.cost(table, width))))


if __name__ == "__main__":
    main()
