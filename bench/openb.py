#!/usr/bin/python3
"""Placement on the OpenB trace (17 workloads, seeds 42-47): the published policies must give the published figures to 0.01 point; Crater's own
are compared with FGD, the best of them, run by run, and with an upper bound. The cluster is data; nothing runs and no server is contacted."""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import bound  # noqa: E402
import openb  # noqa: E402
import reference  # noqa: E402

EXACT = ["fgd", "best_fit", "dot_product", "gpu_packing", "gpu_clustering"]
TOLERANCE = 0.01 + 1e-9
BELOW_REFERENCE = 0.05  # points that a workload's mean may be below that of the reference policy


def difference(answer, row):
    """The largest between ours and the published, in points, each to the hundredth that is published."""
    pairs = [(answer["allocation_percent"][load], row["alloc" + load]) for load in openb.LOADS]
    pairs += [(answer["fragmentation_percent"][load], row["fragamt" + load]) for load in openb.LOADS]
    return max(abs(round(ours, 2) - float(theirs)) for ours, theirs in pairs)


def parity(options, folder, policy, published):
    runs = [(policy, w, s) for w in options.workloads for s in options.seeds if (w, openb.PEERS[policy], s) in published]
    answers = openb.simulate_all(options, folder, runs)
    rows = [published[(w, openb.PEERS[policy], s)] for _, w, s in runs]
    out = {"runs": len(runs), "decisions_per_second": round(openb.mean(a["decisions_per_second"] for a in answers))}
    if policy == "random":  # its own draws: alike in the mean, not run by run
        apart = [openb.mean(a["allocation_percent"][load] - float(row["alloc" + load]) for a, row in zip(answers, rows)) for load in openb.LOADS]
        out["mean_difference"] = round(max(apart, key=abs), 3)
        print(f"{policy:<16} {len(runs)} runs, mean allocation differs by {out['mean_difference']:+.2f} points from the published at most", flush=True)
    else:
        worst = max(((difference(a, row), w, s) for a, row, (_, w, s) in zip(answers, rows, runs)), default=(0, "", 0))
        out["largest_difference"] = round(worst[0], 4)
        print(f"{policy:<16} {len(runs)} runs, largest difference to the published {worst[0]:.2f} points, {out['decisions_per_second']} decisions/s", flush=True)
    return out, {(w, s): a for (_, w, s), a in zip(runs, answers)}


def compare(options, folder, policy, fgd):
    """The policy against FGD: per run and per workload."""
    runs = [(policy, w, s) for w in options.workloads for s in options.seeds]
    answers = {(w, s): a for (_, w, s), a in zip(runs, openb.simulate_all(options, folder, runs))}
    rates = {key: round(openb.mean(a[key] for a in answers.values())) for key in ("decisions_per_second", "decisions_per_second_learning_aside")}
    out = {"runs": len(runs), **rates, "workloads": {}}
    gain = {(w, s, load): a["allocation_percent"][load] - fgd[w, s]["allocation_percent"][load] for (w, s), a in answers.items() for load in ("100", "130")}
    print(f"\n{policy} against fgd, GPU allocation in percent; d = points gained, mean [least, most] over {len(options.seeds)} seeds", flush=True)
    print(f"{'workload':<12}" + "".join(f"{'fgd ' + load:>9}{'ours ' + load:>10}{'d':>24}" for load in ("100", "130")), flush=True)
    for w in options.workloads:
        line, row = f"{w:<12}", {}
        for load in ("100", "130"):
            theirs = openb.mean(fgd[w, s]["allocation_percent"][load] for s in options.seeds)
            ours = openb.mean(answers[w, s]["allocation_percent"][load] for s in options.seeds)
            gains = [gain[w, s, load] for s in options.seeds]
            row[load] = {"fgd": round(theirs, 3), policy: round(ours, 3), "gain": [round(g, 3) for g in (ours - theirs, min(gains), max(gains))]}
            line += f"{theirs:>9.2f}{ours:>10.2f}{f'{ours - theirs:+.2f} [{min(gains):+.2f}, {max(gains):+.2f}]':>24}"
        out["workloads"][w] = row
        print(line, flush=True)
    for load in ("100", "130"):
        ours, gains = [a["allocation_percent"][load] for a in answers.values()], [g for (_, _, at), g in gain.items() if at == load]
        out[f"allocation_{load}"], out[f"gain_{load}"] = round(openb.mean(ours), 3), round(openb.mean(gains), 3)
        out[f"wins_{load}"] = sum(g > 0 for g in gains)
        print(f"at load {load}: {policy} {openb.mean(ours):.2f} %, {openb.mean(gains):+.2f} points on fgd, better in {out[f'wins_{load}']} of {len(gains)} runs", flush=True)
    print(f"{out['decisions_per_second']} decisions/s with repricing, {out['decisions_per_second_learning_aside']} with it aside", flush=True)
    return out, answers


def beside_reference(options, folder, policy, answers):
    """The policy against the reference policy: the mean over the seeds of each workload. None where that is not at hand."""
    theirs = reference.allocations(options, folder)
    if theirs is None:
        return None
    out = {"workloads": {}}
    print(f"\n{policy} against the reference policy, mean GPU allocation over {len(options.seeds)} seeds, in points", flush=True)
    for w in options.workloads:
        apart = {load: openb.mean(round(answers[w, s]["allocation_percent"][load], 2) - theirs[w, s][load] for s in options.seeds) for load in ("100", "130")}
        out["workloads"][w] = {load: round(d, 3) for load, d in apart.items()}
        print(f"{w:<12}" + "".join(f"{load:>6}: {d:+.3f}" for load, d in apart.items()), flush=True)
    for load in ("100", "130"):
        out[f"reference_{load}"] = round(openb.mean(a[load] for a in theirs.values()), 3)
    out["least"] = min(d for row in out["workloads"].values() for d in row.values())
    print(f"least {out['least']:+.3f} (not below {-BELOW_REFERENCE}); the reference's means: {out['reference_100']:.2f} at load 100, {out['reference_130']:.2f} at 130", flush=True)
    return out


def width(policy):
    return len(policy) + 6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    openb.add_options(parser)
    parser.add_argument("--peers", nargs="*", default=list(openb.PEERS), choices=list(openb.PEERS), help="which published policies to check; fgd is always run")
    parser.add_argument("--policies", nargs="*", default=["price"], metavar="NAME", help="which of Crater's to compare with fgd: price, engine:NAME")
    parser.add_argument("--bounds", nargs="*", choices=openb.WORKLOADS, metavar="NAME", help="workloads to print the upper bound of, for the first seed (default: all; none: --bounds alone)")
    parser.add_argument("--reference", default=reference.SOURCE, metavar="SOURCE", help="source of the reference policy; price is compared with it where it is there")
    options = parser.parse_args()
    folder = openb.folder_of(options)
    if folder is None:
        return 0

    published = openb.published(folder)
    result, ours = {"benchmark": "openb", "parity": {}, "policies": {}, "bounds": {}}, {}
    for policy in ["fgd"] + [p for p in options.peers if p != "fgd"]:
        result["parity"][policy], ours[policy] = parity(options, folder, policy, published)
    for policy in options.policies:
        if openb.engine_has(options, folder, policy):
            result["policies"][policy], ours[policy] = compare(options, folder, policy, ours["fgd"])

    if "price" in ours:
        result["reference"] = beside_reference(options, folder, "price", ours["price"])

    seed = options.seeds[0]
    shown = [p for p in ["fgd", *options.policies] if p in ours]
    for workload in options.workloads if options.bounds is None else [w for w in options.bounds if w in options.workloads]:
        limits = bound.upper_bounds(folder, workload, seed)
        if limits is None:
            break
        result["bounds"][workload] = limits
        if len(result["bounds"]) == 1:
            print(f"\nseed {seed}: allocation in percent beside what no placement can exceed (linear program; prefix = load up to which all pods fit)", flush=True)
            print(f"{'workload':<12}" + "".join(f"{f'{p} {load}':>{width(p)}}" for load in ("100", "130") for p in [*shown, "bound"]) + f"{'prefix':>9}", flush=True)
        figures = {(load, p): ours[p][workload, seed]["allocation_percent"][load] for load in ("100", "130") for p in shown}
        figures |= {("100", "bound"): limits["lp100"], ("130", "bound"): limits["lp130"]}
        print(f"{workload:<12}" + "".join(f"{figures[load, p]:>{width(p)}.2f}" for load in ("100", "130") for p in [*shown, "bound"]) + f"{limits['prefix']:>9.2f}", flush=True)

    exact = [p for p in EXACT if p in result["parity"]]
    worst = max(result["parity"][p]["largest_difference"] for p in exact)
    result["largest_difference"], result["parity_holds"] = worst, worst <= TOLERANCE and all(result["parity"][p]["runs"] for p in exact)
    print(json.dumps(result))
    print(f"{len(exact)} published policies, {sum(result['parity'][p]['runs'] for p in exact)} runs: largest difference {worst:.2f} points"
          + "".join(f"; {p} {r['gain_130']:+.2f} points on fgd at load 130, better in {r['wins_130']} of {r['runs']}" for p, r in result["policies"].items()))
    return 0 if result["parity_holds"] else 1


if __name__ == "__main__":
    sys.exit(openb.run(main))
