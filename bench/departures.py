#!/usr/bin/python3
"""Placement with pods that end (crater simulate --departures): the OpenB cluster as a loss system, offered 95 % and 105 % of its GPU; GPU-time of the pods
that did not fit at once, in percent of all offered and of that of pods of several cards. Every policy meets the same arrivals; lower is better."""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import openb  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    openb.add_options(parser)
    parser.set_defaults(workloads=["default"], seeds=[42, 43, 44, 45])
    parser.add_argument("--policies", nargs="+", default=["best_fit", "fgd", "price"], metavar="NAME", help="as crater simulate --policy")
    parser.add_argument("--offered", nargs="+", type=float, default=[0.95, 1.05], metavar="PART", help="GPU asked for at any time, as a part of the cluster's")
    parser.add_argument("--arrivals-count", type=int, default=60000, help="pods that arrive in a run")
    options = parser.parse_args()
    folder = openb.folder_of(options)
    if folder is None:
        return 0

    policies = [p for p in options.policies if p in openb.PEERS or openb.engine_has(options, folder, p)]
    runs = [(p, w, s, "--departures", "--offered", str(o), "--arrivals-count", str(options.arrivals_count))
            for w in options.workloads for o in options.offered for p in policies for s in options.seeds]
    answers = dict(zip(runs, openb.simulate_all(options, folder, runs)))
    result = {"benchmark": "departures", "seeds": options.seeds, "arrivals": options.arrivals_count, "workloads": {}}
    print(f"refused GPU-time in percent of offered (in brackets: of pods of several cards), mean of seeds {', '.join(map(str, options.seeds))}", flush=True)
    print(f"{'workload':<12}{'policy':<20}" + "".join(f"{f'{100 * o:g} % offered':>20}" for o in options.offered) + f"{'decisions/s':>14}", flush=True)
    for workload in options.workloads:
        for policy in policies:
            line, row, rates = f"{workload:<12}{policy:<20}", {}, []
            for offered in options.offered:
                mine = [a for run, a in answers.items() if run[:2] == (policy, workload) and run[5] == str(offered)]
                refused, multi = (openb.mean(a[key] for a in mine) for key in ("refused_percent", "refused_multi_card_percent"))
                rates += [a["decisions_per_second"] for a in mine]
                row[f"{100 * offered:g}"] = {"refused_percent": round(refused, 3), "refused_multi_card_percent": round(multi, 2),
                                             "used_percent": round(openb.mean(a["used_percent"] for a in mine), 3), "by_seed": [a["refused_percent"] for a in mine]}
                line += f"{f'{refused:.2f} ({multi:.1f})':>20}"
            row["decisions_per_second"] = round(openb.mean(rates))
            print(f"{line}{row['decisions_per_second']:>14}", flush=True)
            result["workloads"].setdefault(workload, {})[policy] = row
    print(json.dumps(result))
    first = result["workloads"][options.workloads[0]]
    load = f"{100 * options.offered[0]:g}"
    print(f"{options.workloads[0]}, {load} % offered: " + ", ".join(f"{p} refuses {row[load]['refused_percent']:.2f} %" for p, row in first.items()))
    return 0


if __name__ == "__main__":
    sys.exit(openb.run(main))
