"""What no placement of the OpenB pods can exceed, by linear programming. Needs scipy (Debian: python3-scipy); says so where it is absent.

Relaxed are: the cores of equal servers are one pool, memory is left out, pods may be split over servers. Exact is how pods share a card: a card
is cut by one of the patterns of sizes that leave room for no further pod. So each figure is an upper bound."""
import collections
import csv
import os

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
    if not sizes:
        return [()]
    if len(sizes) == 1:
        return [(left // sizes[0],)]
    found = []
    for count in range(left // sizes[0], -1, -1):
        found += [(count, *rest) for rest in patterns(sizes[1:], left - count * sizes[0])]
    # The smallest fills the rest, so nothing smaller than it is left; larger ones must not fit either.
    return found


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
        self.rows, self.columns, self.values, self.of = [], [], [], []  # the matrix; of which request each first variable is
        variable = 0

        def entry(row, value):
            self.rows.append(row), self.columns.append(variable), self.values.append(value)
        for i, (cpu, milli, cards, models) in enumerate(self.requests):
            for k, ((model, has, cores), _) in enumerate(kinds):
                if cpu > cores or cards > has or (models and model not in models):
                    continue
                entry(i, 1.0)
                entry(cores_row(k), cpu / 1000)
                if milli == CARD:
                    entry(cards_row(k), cards)
                elif cards:
                    entry(size_row(k, sizes.index(milli)), 1.0)
                self.of.append(i)
                variable += 1
        for k in range(len(kinds)):
            for cut in cuts:
                entry(cards_row(k), 1.0)
                for z, count in enumerate(cut):
                    if count:
                        entry(size_row(k, z), -float(count))
                variable += 1
        self.variables = variable
        self.room = [count * cores / 1000 for (_, _, cores), count in kinds] + [float(count * has) for (_, has, _), count in kinds] + [0.0] * (len(kinds) * len(sizes))

    def best(self, arrivals, worth):
        """How many pods of each request, so that the worth is the most."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix
        demand = [0.0] * len(self.requests)
        for request in arrivals:
            demand[self.position[request]] += 1
        limits = demand + self.room
        matrix = csr_matrix((self.values, (self.rows, self.columns)), shape=(len(limits), self.variables))
        cost = [-worth(self.requests[i]) for i in self.of] + [0.0] * (self.variables - len(self.of))
        answer = linprog(cost, A_ub=matrix, b_ub=limits, method="highs")
        if answer.status != 0:
            raise RuntimeError(answer.message)
        placed = [0.0] * len(self.requests)
        for i, count in zip(self.of, answer.x):
            placed[i] += count
        return placed

    def allocation(self, arrivals):
        placed = self.best(arrivals, lambda r: r[1] * r[2] / CARD)
        return 100 * sum(count * r[1] * r[2] for count, r in zip(placed, self.requests)) / self.gpu

    def all_fit(self, arrivals):
        return sum(self.best(arrivals, lambda r: r[1] * r[2] / CARD + r[0] * 1e-6 + 0.01)) > len(arrivals) - 0.5


def upper_bounds(folder, workload, seed):
    """lp100 and lp130: the most GPU, in percent of the cluster, of any of the pods arrived by then, chosen afterwards. prefix: the load up to which
    all pods still fit. None, after saying so, without scipy."""
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        print("upper bounds skipped: they need scipy (apt-get install python3-scipy)", flush=True)
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
