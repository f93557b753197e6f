"""What no placement of the OpenB pods can exceed, by linear programming. Needs the solver clp (Debian: coinor-clp); says so where it is absent.

Relaxed are: the cores of equal servers are one pool, memory is left out, pods may be split over servers. Exact is how pods share a card: a card
is cut by one of the patterns of sizes that leave room for no further pod. So each figure is an upper bound."""
import collections
import csv
import os
import shutil
import subprocess
import tempfile

CARD = 1000


def read(folder, workload, seed):
    """Servers alike -> how many, and the requests (cores in milli, milli per card, cards, models) in order of arrival."""
    kinds = collections.Counter()
    with open(os.path.join(folder, "openb_node_list_gpu_node.csv")) as file:
        for row in csv.DictReader(file):
            kinds[row["model"], int(row["gpu"]), int(row["cpu_milli"])] += 1
    requests = {}
    with open(os.path.join(folder, f"openb_pod_list_{workload}.csv")) as file:
        for row in csv.DictReader(file):
            cards = int(row["num_gpu"])
            models = frozenset((row.get("gpu_spec") or "").split("|")) - {""} if cards else frozenset()
            requests[int(row["name"].rsplit("-", 1)[1])] = (int(row["cpu_milli"]), min(CARD, int(row["gpu_milli"])) if cards else 0, cards, models)
    with open(os.path.join(folder, "arrivals_compact", workload + ".txt")) as file:
        for line in file:
            words = line.split()
            if words[:2] == ["arrival", str(seed)]:
                return kinds, [requests[int(number)] for number in words[2:]]
    raise ValueError(f"no arrivals of seed {seed} for {workload}")


def patterns(sizes, left=CARD):
    """How often each size, the largest first, so that no further piece fits on the card."""
    if len(sizes) == 1:
        return [(left // sizes[0],)]
    # The smallest size takes all that is left, so that nothing fits any more.
    return [(count, *rest) for count in range(left // sizes[0], -1, -1) for rest in patterns(sizes[1:], left - count * sizes[0])]


def solve(costs, columns, limits):
    """The values other than 0 of the variables, none negative, that cost the least while every row stays within its limit."""
    with tempfile.TemporaryDirectory() as folder:
        problem, solution = os.path.join(folder, "problem.mps"), os.path.join(folder, "solution")
        with open(problem, "w") as file:
            file.write("NAME BOUND\nROWS\n N COST\n" + "".join(f" L R{row}\n" for row in range(len(limits))) + "COLUMNS\n")
            for variable, (cost, column) in enumerate(zip(costs, columns)):
                file.writelines(f" C{variable} {row} {value:.10g}\n" for row, value in [("COST", cost)] + [(f"R{row}", value) for row, value in column] if value)
            file.write("RHS\n" + "".join(f" RHS R{row} {limit:.10g}\n" for row, limit in enumerate(limits) if limit) + "ENDATA\n")
        done = subprocess.run(["clp", problem, "-dualsimplex", "-solution", solution], capture_output=True, text=True)
        if done.returncode != 0 or not os.path.exists(solution):
            raise RuntimeError("clp: " + done.stdout[-500:] + done.stderr[-500:])
        with open(solution) as file:
            if "optimal" not in (status := file.readline()).lower():
                raise RuntimeError("clp: " + status + done.stdout[-500:])
            # Lines "POSITION NAME VALUE REDUCED_COST", marked with ** where a tolerance was passed.
            rows = [line.replace("**", "").split() for line in file]
        return {int(row[1][1:]): float(row[2]) for row in rows if len(row) == 4 and row[1].startswith("C")}


class Fluid:
    """Variables: pods of a request on a kind of server, and cards of a kind cut by a pattern."""

    def __init__(self, kinds, arrivals):
        self.requests = sorted(set(arrivals), key=lambda r: (r[0], r[1], r[2], sorted(r[3])))
        self.position = {request: i for i, request in enumerate(self.requests)}
        self.gpu = sum(count * cards for (_, cards, _), count in kinds.items()) * CARD
        sizes = sorted({r[1] for r in self.requests if 0 < r[1] < CARD}, reverse=True)
        cuts = patterns(sizes) if sizes else []
        kinds = sorted(kinds.items())
        cores_row = lambda k: len(self.requests) + k  # noqa: E731
        cards_row = lambda k: cores_row(len(kinds)) + k  # noqa: E731
        size_row = lambda k, z: cards_row(len(kinds)) + k * len(sizes) + z  # noqa: E731
        self.columns, self.of = [], []  # of each variable its (row, value); of the first ones, whose pods they are
        for i, (cpu, milli, cards, models) in enumerate(self.requests):
            for k, ((model, has, cores), _) in enumerate(kinds):
                if cpu > cores or cards > has or (models and model not in models):
                    continue
                column = [(i, 1.0), (cores_row(k), cpu / 1000)]
                if milli == CARD:
                    column.append((cards_row(k), cards))
                elif cards:
                    column.append((size_row(k, sizes.index(milli)), 1.0))
                self.columns.append(column)
                self.of.append(i)
        for k in range(len(kinds)):
            for cut in cuts:
                self.columns.append([(cards_row(k), 1.0)] + [(size_row(k, z), -float(count)) for z, count in enumerate(cut) if count])
        self.room = [count * cores / 1000 for (_, _, cores), count in kinds] + [float(count * has) for (_, has, _), count in kinds] + [0.0] * (len(kinds) * len(sizes))

    def best(self, arrivals, worth):
        """How many pods of each request, so that the worth is the most."""
        demand = [0.0] * len(self.requests)
        for request in arrivals:
            demand[self.position[request]] += 1
        placed = [0.0] * len(self.requests)
        costs = [-worth(self.requests[i]) for i in self.of] + [0.0] * (len(self.columns) - len(self.of))
        for variable, value in solve(costs, self.columns, demand + self.room).items():
            if variable < len(self.of):
                placed[self.of[variable]] += value
        return placed

    def allocation(self, arrivals):
        placed = self.best(arrivals, lambda r: r[1] * r[2] / CARD)
        return 100 * sum(count * r[1] * r[2] for count, r in zip(placed, self.requests)) / self.gpu

    def all_fit(self, arrivals):
        return sum(self.best(arrivals, lambda r: r[1] * r[2] / CARD + r[0] * 1e-6 + 0.01)) > len(arrivals) - 0.5


def upper_bounds(folder, workload, seed):
    """lp100 and lp130: the most GPU, in percent of the cluster, of any of the pods arrived by then, chosen afterwards. prefix: the load up to which
    all pods still fit. None, after saying so, without clp."""
    if not shutil.which("clp"):
        print("upper bounds skipped: they need the solver clp (apt-get install coinor-clp)", flush=True)
        return None
    kinds, arrivals = read(folder, workload, seed)
    fluid = Fluid(kinds, arrivals)
    load, loads = 0, []
    for request in arrivals:
        load += request[1] * request[2]
        loads.append(100 * load / fluid.gpu)

    def by(percent):
        return arrivals[:next((i + 1 for i, at in enumerate(loads) if at >= percent), len(arrivals))]
    fits, fails = 0, len(arrivals)
    while fails - fits > 8:
        middle = (fits + fails) // 2
        if fluid.all_fit(arrivals[:middle]):
            fits = middle
        else:
            fails = middle
    return {"lp100": round(fluid.allocation(by(100)), 2), "lp130": round(fluid.allocation(by(130)), 2), "prefix": round(loads[max(fits - 1, 0)], 2)}
