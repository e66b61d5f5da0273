#!/usr/bin/env python3
"""Simulates gen/kernels/exchange.cl and gen/kernels/waves.cl with permuted columns, and gen/kernels/boxes/box.cl, for
random arrays.

Work-groups run at the same time, and take steps in a random sequence: a step loads or stores a run, or polls a mark. The
cases are tall and wide, with rest rows and rest columns, of which the workspace saves either. Bands and ranges may be
shorter than possible, chunks have any columns, batches have gaps, and several bands are in flight. Every element must
reach its place, and gaps must keep their values. Each known-bad variant must be caught: the same case without the defect
is right. The simulation closes no ticket counter: columns.pml does.

usage: tests/models/columns.py [CASES] [SEED]
"""

import random
import sys

CASES_OF_VARIANT = 400  # to catch a known-bad variant


class Hang(Exception):
    """No work-group can take a step."""


def run(groups, resident, dice):
    """Runs `groups`, generators that yield conditions; at most `resident` at a time."""
    waiting = list(reversed(groups))
    running = []
    while waiting or running:
        while waiting and len(running) < resident:
            group = waiting.pop()
            running.append([group, None, dice.choice((1, 1, 1, 10))])  # condition, speed
        ready = [entry for entry in running if entry[1] is None or entry[1]()]
        if not ready:
            raise Hang
        entry = dice.choices(ready, [e[2] for e in ready])[0]
        for _ in range(dice.randint(1, 6)):
            try:
                entry[1] = next(entry[0])
            except StopIteration:
                running.remove(entry)
                break
            if entry[1] is not None and not entry[1]():
                break


def permutation_of_axes(lengths, axes):
    """The result's index of each source index of an array."""
    apart = [0] * len(lengths)
    distance = 1
    for axis in reversed(axes):
        apart[axis] = distance
        distance *= lengths[axis]
    after = []
    for index in range(distance):
        to = 0
        for axis in reversed(range(len(lengths))):
            to += index % lengths[axis] * apart[axis]
            index //= lengths[axis]
        after.append(to)
    return after


def random_axes(dice, most):
    """Two to four axes in another sequence, of at most `most` elements."""
    count = dice.randint(2, 4)
    lengths = [1] * count
    for _ in range(20):
        grown = dice.randrange(count)
        lengths[grown] += 1
        product = 1
        for length in lengths:
            product *= length
        if product > most:
            lengths[grown] -= 1
    axes = list(range(count))
    dice.shuffle(axes)
    return lengths, axes


class Bands:
    """A batch of matrices with permuted columns, moved by bands."""

    def __init__(self, dice, bad):
        self.dice, self.bad = dice, bad
        self.tall = dice.random() < 0.5
        lengths, axes = random_axes(dice, dice.choice((6, 12, 24)))
        self.after = permutation_of_axes(lengths, axes)
        self.cols = len(self.after)
        self.before = [0] * self.cols
        for x, y in enumerate(self.after):
            self.before[y] = x
        self.rows = dice.randint(1, 24)
        self.bands = dice.randint(1, min(self.rows, self.cols, 6))
        self.height, self.width = self.rows // self.bands, self.cols // self.bands
        if dice.random() < 0.3:
            self.width = dice.randint(1, self.width)
        if dice.random() < 0.3:
            self.height = max(self.rows // (self.bands + 1), 1)
        if self.rows - self.bands * self.height > self.height:
            self.height = self.rows // self.bands  # the rest rows are no more than a band's
            if self.rows - self.bands * self.height > self.height:
                self.bands, self.height, self.width = 1, self.rows, min(self.width, self.cols)
        self.rest_rows = self.rows - self.bands * self.height
        self.covered = self.bands * self.width
        self.rest_cols = self.cols - self.covered
        self.saves_rows = self.rest_rows * self.cols > self.rest_cols * self.rows
        self.saves_first = self.saves_rows if self.tall else not self.saves_rows and self.rest_cols > 0
        self.from_last = self.saves_rows if self.tall else not self.saves_rows
        if bad == "OTHER_ORDER":
            self.from_last = not self.from_last
        copies = bool(self.rest_rows or self.rest_cols)
        self.first = int(self.saves_first) + int(not self.tall and self.rest_rows > 0)
        self.positions = self.bands + (self.rest_rows > 0) + copies
        self.rest_position = self.first + self.bands if self.tall else self.first - 1
        self.chunk = dice.randint(1, self.cols)
        self.chunks = -(-self.cols // self.chunk)
        self.units = self.rows * self.cols
        self.batch = dice.choice((1, 1, 2, 3))
        self.stride = self.units + dice.choice((0, 0, 3))
        self.memory = list(range(self.batch * self.stride))
        if self.saves_rows:
            self.saved_origin, saved = self.bands * self.height * self.cols, self.rest_rows * self.cols
        else:
            self.saved_origin, saved = self.covered * self.rows, self.rest_cols * self.rows
        self.saved = [[None] * saved for _ in range(self.batch)]
        self.reads = [[0] * self.positions for _ in range(self.batch)]
        self.dones = [[[False] * self.chunks for _ in range(self.positions)] for _ in range(self.batch)]
        self.issued = 0
        self.deferrals = 0

    def describe(self):
        return (
            f"{'tall' if self.tall else 'wide'} {self.rows} x {self.cols}, columns {self.after}, {self.bands} bands of "
            f"{self.height}, ranges of {self.width}, chunks of {self.chunk}, batch {self.batch}"
        )

    def right(self):
        wanted = list(range(len(self.memory)))
        for m in range(self.batch):
            for row in range(self.rows):
                for x in range(self.cols):
                    in_rows, in_slots = row * self.cols + x, self.after[x] * self.rows + row
                    source, target = (in_rows, in_slots) if self.tall else (in_slots, in_rows)
                    wanted[m * self.stride + target] = m * self.stride + source
        return self.memory == wanted

    def position_of(self, band):
        return self.first + (self.bands - 1 - band if self.from_last else band)

    def shared(self, first, last):
        """The bands (tall) or ranges (wide) in the memory of ranges (tall) or bands (wide) `first` to `last`."""
        bands, ranges = self.height * self.cols, self.width * self.rows
        unit, in_unit = (ranges, bands) if self.tall else (bands, ranges)
        return range(first * unit // in_unit, min(self.bands, -(-(last + 1) * unit // in_unit)))

    def shuffled(self, items):
        items = list(items)
        self.dice.shuffle(items)
        return items

    def simulate(self):
        tickets = self.batch * self.positions * self.chunks
        run([self.group(t) for t in range(tickets)], self.chunks + self.dice.randint(0, 2 * self.chunks + 1), self.dice)

    def copy_rest(self, m, number):
        each = -(-len(self.saved[m]) // self.chunks)
        for at in range(number * each, min((number + 1) * each, len(self.saved[m]))):
            place = m * self.stride + self.saved_origin + at
            if self.saves_first:
                self.saved[m][at] = self.memory[place]
            else:
                self.memory[place] = self.saved[m][at]
            if at % 8 == 0:
                yield None

    def group(self, ticket):
        """A work-group with a copy of the rest, or with a chunk."""
        bad = self.bad
        self.issued += 1
        position, number = divmod(ticket, self.chunks)
        m, position = divmod(position, self.positions)
        own_end = (ticket // self.chunks + 1) * self.chunks
        reads, dones = self.reads[m], self.dones[m]
        step = position - self.first
        is_band, is_rest = 0 <= step < self.bands, self.rest_rows > 0 and position == self.rest_position
        yield None
        if not is_band and not is_rest:
            yield lambda: self.issued >= own_end
            if self.saves_first:
                yield from self.copy_rest(m, number)
            reads[position] += 1
            if not self.saves_first:
                if bad != "RESTORE_EARLY":
                    if self.tall:
                        yield lambda: all(all(d) for d in dones[self.first : position])
                    else:
                        yield lambda: all(r == self.chunks for r in reads[:position])
                        yield lambda: not self.rest_rows or all(dones[self.rest_position])
                yield from self.copy_rest(m, number)
            return
        band = self.bands if is_rest else self.bands - 1 - step if self.from_last else step
        chunk = Chunk(self, m, band, number)
        if self.saves_first and (is_rest or not self.tall) and bad != "NO_SAVED_WAIT":
            yield lambda: reads[0] == self.chunks

        def all_issued():
            return self.issued >= own_end

        def may_write():
            wanted = [] if bad == "NO_OWN_WAIT" else [position]
            if bad != "NO_REST_WAIT":
                wanted += range(int(self.saves_first) if self.tall else self.first)
            if bad != "NO_NEIGHBOUR_WAIT" and (self.tall or not is_rest):
                shared = self.shared(0, self.bands - 1) if is_rest else self.shared(band, band)
                wanted += [self.position_of(other) for other in shared if other != band]
            return all(reads[w] == self.chunks for w in wanted)

        steps = self.tall_chunk if self.tall else self.wide_chunk
        yield from steps(chunk, reads, dones, position, number, all_issued, may_write, is_band)

    def tall_chunk(self, chunk, reads, dones, position, number, all_issued, may_write, is_band):
        bad = self.bad
        if bad == "COUNT_EARLY":
            reads[position] += 1
        for row in self.shuffled(range(chunk.height)):
            yield None
            chunk.read_row(row)
        yield None
        if bad != "COUNT_EARLY":
            reads[position] += 1
        yield all_issued

        def missing():
            return {x for x in self.shuffled(chunk.earlier) if not chunk.is_parked(dones, x)}

        deferred = set()
        for x in self.shuffled(chunk.earlier):
            yield None
            if bad != "DEFER_NONE" and not chunk.is_parked(dones, x):
                deferred.add(x)
        self.deferrals += len(deferred)
        yield from chunk.exchange(set(chunk.earlier) - deferred)
        if bad != "NO_READS_WAIT":
            yield may_write
        if bad == "DECIDE_TWICE":
            deferred = missing()
        if bad == "DONE_EARLY":
            dones[position][number] = True
        yield from chunk.write_columns(set(chunk.columns) - deferred)
        yield None
        dones[position][number] = True
        if bad != "NO_DONE_WAIT":
            yield lambda: all(chunk.is_parked(dones, x) for x in deferred)
        if bad == "WRITE_UNEXCHANGED":
            yield from chunk.write_columns(deferred)
        yield from chunk.exchange(deferred)
        if bad != "WRITE_UNEXCHANGED":
            yield from chunk.write_columns(deferred)

    def wide_chunk(self, chunk, reads, dones, position, number, all_issued, may_write, is_band):
        bad = self.bad
        own = set(chunk.columns) - set(chunk.earlier)
        if bad != "PARK_UNREAD":
            yield from chunk.read_runs(own, chunk.own_place)
        yield all_issued
        if bad == "COUNT_EARLY":
            reads[position] += 1
        if bad == "DONE_EARLY" and is_band:
            dones[position][number] = True
        yield from chunk.park()
        yield None
        if is_band:
            dones[position][number] = True
        if bad == "PARK_UNREAD":
            yield from chunk.read_runs(own, chunk.own_place)
        if bad != "NO_DONE_WAIT":
            yield lambda: all(chunk.is_parked(dones, x) for x in chunk.earlier)
        yield from chunk.read_runs(chunk.earlier, chunk.partner_place)
        yield None
        if bad != "COUNT_EARLY":
            reads[position] += 1
        if bad != "NO_READS_WAIT":
            yield may_write
        for row in self.shuffled(range(chunk.height)):
            yield None
            chunk.write_row(row)
        yield None
        if not is_band:
            dones[position][number] = True


class Chunk:
    """Columns of a band, or of the rest rows, in local memory."""

    def __init__(self, bands, m, band, number):
        self.of, self.m, self.band = bands, m, band
        self.columns = range(number * bands.chunk, min((number + 1) * bands.chunk, bands.cols))
        self.is_band = band < bands.bands
        self.height = bands.height if self.is_band else bands.rest_rows
        self.tile = {}
        paired = [x for x in self.columns if self.is_band and bands.after[x] < bands.covered]
        sign = -1 if bands.from_last else 1
        self.earlier = [x for x in paired if sign * (self.range_of(x) - band) < 0]
        self.later = [x for x in paired if sign * (self.range_of(x) - band) > 0]

    def range_of(self, x):
        return self.of.after[x] // self.of.width

    def partner(self, x):
        """The number of the column whose run changes places with that of column x."""
        return self.band * self.of.width + self.of.after[x] % self.of.width

    def is_parked(self, dones, x):
        of = self.of
        return dones[of.position_of(self.range_of(x))][of.before[self.partner(x)] // of.chunk]

    def memory(self, place):
        """The matrix, or the workspace for a place ("saved", index)."""
        if isinstance(place, tuple):
            return self.of.saved[self.m], place[1]
        return self.of.memory, self.m * self.of.stride + place

    def row_place(self, row):
        of = self.of
        if not self.is_band and of.saves_rows:
            return ("saved", row * of.cols)
        return (self.band * of.height + row) * of.cols

    def own_place(self, x):
        of, y = self.of, self.of.after[x]
        part = self.band * of.height
        if y >= of.covered and not of.saves_rows:
            return ("saved", (y - of.covered) * of.rows + part)
        return y * of.rows + part

    def partner_place(self, x):
        if not self.is_band or self.of.after[x] >= self.of.covered:
            return self.own_place(x)
        return self.partner(x) * self.of.rows + self.range_of(x) * self.of.height

    def read_row(self, row):
        memory, begin = self.memory(self.row_place(row))
        for x in self.columns:
            self.tile[row, x] = memory[begin + x]

    def write_row(self, row):
        memory, begin = self.memory(self.row_place(row))
        for x in self.columns:
            memory[begin + x] = self.tile[row, x]

    def load(self, place):
        memory, begin = self.memory(place)
        return memory[begin : begin + self.height]

    def store(self, place, values):
        memory, begin = self.memory(place)
        memory[begin : begin + self.height] = values

    def run_of(self, x):
        return [self.tile[row, x] for row in range(self.height)]

    def hold(self, x, values):
        for row in range(self.height):
            self.tile[row, x] = values[row]

    def read_runs(self, columns, place):
        for x in self.of.shuffled(columns):
            yield None
            self.hold(x, self.load(place(x)))

    def exchange(self, columns):
        for x in self.of.shuffled(columns):
            yield None
            parked, own = self.load(self.own_place(x)), self.run_of(x)
            self.hold(x, parked)
            yield None
            self.store(self.own_place(x), own)

    def write_columns(self, columns):
        for x in self.of.shuffled(columns):
            yield None
            self.store(self.partner_place(x), self.run_of(x))

    def park(self):
        for x in self.of.shuffled(self.later):
            yield None
            parked = self.load(self.partner_place(x))
            yield None
            self.store(self.own_place(x), parked)


class Waves(Bands):
    """The same by gen/kernels/waves.cl: work-groups share the pieces of a step, and wait for all before the next one."""

    def simulate(self):
        saved = len(self.saved[0])
        self.slab = [None] * (self.height * self.cols)
        self.taken, self.done = [0] * (self.batch * (self.bands + 1)), 0
        rests = [m * self.stride + self.saved_origin for m in range(self.batch)]
        if self.saves_first:
            self.saved = [self.memory[at : at + saved] for at in rests]
        workers = self.dice.randint(1, 3)
        run([self.worker() for _ in range(workers)], workers, self.dice)
        for m, at in enumerate(rests):
            if not self.saves_first and self.bad != "NO_RESTORE":
                self.memory[at : at + saved] = self.saved[m]

    def worker(self):
        for step, _ in enumerate(self.taken):
            m, q = divmod(step, self.bands + 1)
            following = self.bands - 1 - q if self.from_last else q
            last = following + 1 if self.from_last else following - 1
            if self.bad != "NO_STEP_WAIT":
                yield lambda before=step * self.chunks: self.done >= before
            while self.taken[step] < self.chunks:
                begin = self.taken[step] * self.chunk
                columns = range(begin, min(begin + self.chunk, self.cols))
                self.taken[step] += 1
                runs, rows = (last, following) if self.tall else (following, last)
                for move, band in ((self.move_runs, runs), (self.move_rows, rows))[:: 1 if self.tall else -1]:
                    if 0 <= band < self.bands:
                        yield from move(m, band, columns)
                self.done += 1

    def move_rows(self, m, band, columns):
        for row in range(self.height):
            yield None
            for x in columns:
                place, held = m * self.stride + (band * self.height + row) * self.cols + x, x * self.height + row
                if self.tall:
                    self.slab[held] = self.memory[place]
                else:
                    self.memory[place] = self.slab[held]

    def move_runs(self, m, band, columns):
        height, base = self.height, m * self.stride
        for x in columns:
            yield None
            y = x if self.bad == "NOT_PERMUTED" else self.after[x]
            rest = y >= self.covered
            d = band if rest else y // self.width
            later = d < band if self.from_last else d > band
            saved = rest and not self.saves_rows
            column = (self.saved[m], (y - self.covered) * self.rows) if saved else (self.memory, base + y * self.rows)
            own = column[0], column[1] + band * height
            partner = self.memory, base + (band * self.width + y - d * self.width) * self.rows + d * height
            held = self.slab, (y if self.bad == "SLAB_BY_COLUMN" else x) * height
            if not self.tall:
                if d == band or later:
                    self.copy(held, own)
                    if d != band:
                        self.copy(own, partner)
                else:
                    self.copy(held, partner)
            elif d == band or later:
                self.copy(own if d == band else partner, held)
            else:
                self.copy(partner, own)
                self.copy(own, held)
            if d == band and (not rest or band == (self.bands - 1 if self.from_last else 0)):
                self.move_gap(m, x, column)

    def copy(self, to, source):
        to[0][to[1] : to[1] + self.height] = source[0][source[1] : source[1] + self.height]

    def move_gap(self, m, x, column):
        place = column[1] + self.bands * self.height
        for k in range(self.rest_rows):
            rows, at = self.saved[m], k * self.cols + x
            if not self.saves_rows:
                rows, at = self.memory, m * self.stride + (self.bands * self.height + k) * self.cols + x
            if self.tall:
                column[0][place + k] = rows[at]
            else:
                rows[at] = column[0][place + k]


class Boxes:
    """A batch of arrays that move by boxes of one size, the last two of which may overlap on each axis."""

    def __init__(self, dice, bad):
        self.dice, self.bad = dice, bad
        self.lengths, self.axes = random_axes(dice, dice.choice((8, 24, 60)))
        self.after = permutation_of_axes(self.lengths, self.axes)
        self.units = len(self.after)
        self.batch = dice.choice((1, 2, 3))
        self.memory = list(range(self.batch * self.units))
        self.counters = [0] * self.batch
        # The last axis of the source and that of the result are whole.
        whole = {len(self.axes) - 1, self.axes[-1]}
        self.box = [n if a in whole else dice.randint(1, n) for a, n in enumerate(self.lengths)]
        begins = [[]]
        for n, length in zip(self.lengths, self.box):
            step = length + (bad == "HOLE" and n > length + 1)
            begins = [b + [min(at, n - length)] for b in begins for at in range(0, n, step)]
        self.begins = begins
        self.overlap = any(n % length for n, length in zip(self.lengths, self.box))

    def describe(self):
        return f"boxes of {self.box}: {self.lengths}, axes {self.axes}, batch {self.batch}"

    def right(self):
        wanted = [0] * len(self.memory)
        for m in range(self.batch):
            for index, to in enumerate(self.after):
                wanted[m * self.units + to] = m * self.units + index
        return self.memory == wanted

    def simulate(self):
        count = len(self.begins)
        groups = [self.group(t // count, self.begins[t % count]) for t in range(self.batch * count)]
        run(groups, count + self.dice.randint(0, count), self.dice)

    def group(self, m, begin):
        indices = [0]
        for n, first, length in zip(self.lengths, begin, self.box):
            indices = [i * n + first + at for i in indices for at in range(length)]
        self.dice.shuffle(indices)
        yield None
        if self.bad == "COUNT_EARLY":
            self.counters[m] += 1
        held = {}
        for n, index in enumerate(indices):
            held[index] = self.memory[m * self.units + index]
            if n % 4 == 0:
                yield None
        if self.bad != "COUNT_EARLY":
            self.counters[m] += 1
        counter = max(m - 1, 0) if self.bad == "OTHER_COUNTER" else m
        if self.bad != "NO_WAIT":
            yield lambda: self.counters[counter] >= len(self.begins)
        for n, index in enumerate(indices):
            self.memory[m * self.units + self.after[index]] = held[index]
            if n % 4 == 0:
                yield None


TALL_AND_WIDE = (
    "COUNT_EARLY NO_OWN_WAIT NO_NEIGHBOUR_WAIT NO_READS_WAIT NO_DONE_WAIT DONE_EARLY NO_REST_WAIT "
    "NO_SAVED_WAIT RESTORE_EARLY OTHER_ORDER"
).split()
VARIANTS = (
    [(Bands, True, name) for name in TALL_AND_WIDE + ["DECIDE_TWICE", "DEFER_NONE", "WRITE_UNEXCHANGED"]]
    + [(Bands, False, name) for name in TALL_AND_WIDE + ["PARK_UNREAD"]]
    + [(Waves, tall, name) for tall in (True, False) for name in ("NO_STEP_WAIT", "NOT_PERMUTED", "SLAB_BY_COLUMN")]
    + [(Waves, tall, "OTHER_ORDER") for tall in (True, False)]
    + [(Waves, True, "NO_RESTORE")]
    + [(Boxes, None, name) for name in ("COUNT_EARLY", "NO_WAIT", "OTHER_COUNTER", "HOLE")]
)


def is_right(case):
    try:
        case.simulate()
    except Hang:
        return False
    return case.right()


def main():
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failed = 0
    seen = dict.fromkeys(("tall", "wide", "rest rows", "rest columns", "saved rows", "saved columns", "deferred"), 0)
    seen.update(batches=0, boxes=0, overlapping=0, waves=0)
    for number in range(cases):
        dice = random.Random(f"{seed} {number}")
        case = (Bands, Waves, Bands, Boxes)[number % 4](dice, None)
        if not is_right(case):
            failed += 1
            print(f"WRONG: seed {seed}, case {number}: {case.describe()}")
        seen["batches"] += case.batch > 1
        if isinstance(case, Boxes):
            seen["boxes"] += 1
            seen["overlapping"] += case.overlap
            continue
        seen["waves"] += isinstance(case, Waves)
        seen["tall" if case.tall else "wide"] += 1
        seen["rest rows"] += case.rest_rows > 0
        seen["rest columns"] += case.rest_cols > 0
        seen["saved rows"] += case.saves_rows
        seen["saved columns"] += bool(not case.saves_rows and case.rest_cols)
        seen["deferred"] += case.deferrals > 0
    print(f"columns.py: {cases} cases, {failed} wrong: " + ", ".join(f"{count} {name}" for name, count in seen.items()))
    if cases >= 100 and min(seen.values()) == 0:
        print("columns.py: a kind of case is missing")
        failed += 1
    for kind, tall, name in VARIANTS:
        number = 0
        while number < CASES_OF_VARIANT:
            case = kind(random.Random(f"{seed} {name} {number}"), name)
            if kind is not Boxes and case.tall != tall:
                number += 1
                continue
            if not is_right(case) and is_right(kind(random.Random(f"{seed} {name} {number}"), None)):
                break
            number += 1
        form = "boxes" if tall is None else ("waves, " if kind is Waves else "") + ("tall" if tall else "wide")
        if number == CASES_OF_VARIANT:
            failed += 1
            print(f"columns.py: {form} {name} was not caught")
        else:
            print(f"columns.py: {form} {name} is caught by case {number}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
