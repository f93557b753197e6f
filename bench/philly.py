#!/usr/bin/python3
"""Order and preemption on the Philly trace: 82,247 training jobs on 64 simulated nodes of 8 cards, decided by Crater's engine in simulated time; each resume
pays 60 s. Twice: with relaxed locality (a job's cards lie near each other where they can, else anywhere) against schedulers on a flat pool of as many cards,
for which any cards do; and with each job on as few nodes as hold it (keys that end in _whole_nodes) against schedulers that do the same. Textbook SRTF with
free preemption is defined on the flat pool alone."""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import simulated  # noqa: E402

TARGETS = {"known_over_srtf": 0.97, "noisy_over_srtf": 1.00, "unknown_over_srtf": 1.12, "known_checkpoint_30m_over_srtf": 1.05, "noisy_checkpoint_30m_over_srtf": 1.08,
           "unknown_checkpoint_30m_over_srtf": 1.22, "no_preemption_over_sjf": 1.02, "fair_over_easy": 1.0, "large_over_easy": 1.0, "longest_wait_over_easy": 1.0,
           "preemptions_per_job": 1.0, "replay_seconds": 10.0}
WHOLE = "_whole_nodes"


def own_runs(philly, options):
    """name -> arguments of the runs of the engine."""
    out = {}
    for name, durations, order in (("known", "known", "shortest"), ("noisy", "noisy", "shortest"), ("unknown", "unknown", "las")):
        out[name] = [*philly, "--order", order, "--durations", durations]
        if not options.quick:
            out[name + "_checkpoint_30m"] = [*out[name], "--checkpoint", "30m"]
    out["no_preemption"] = [*philly, "--order", "shortest@keep"]
    out["fair"] = [*philly, "--order", "fair"]
    return out


def figures(own, easy, sjf, srtf):
    """What the runs of the engine come to beside the peers."""
    mean = {name: run["completion_h"]["mean"] for name, run in own.items()}
    preempting = [name for name in own if name not in ("fair", "no_preemption")]

    def worst_over_easy(*path):
        of = lambda run: run[path[0]][path[1]]  # noqa: E731
        return max(of(run) for run in own.values()) / of(easy)

    return {**{f"{name}_over_srtf": mean[name] / srtf["completion_h"]["mean"] for name in preempting},
            "no_preemption_over_sjf": mean["no_preemption"] / sjf["completion_h"]["mean"], "fair_over_easy": mean["fair"] / easy["completion_h"]["mean"],
            # Of all our orders the worst.
            "large_over_easy": worst_over_easy("completion_big_h", "mean"), "longest_wait_over_easy": worst_over_easy("first_wait_h", "longest"),
            "longest_wait_over_easy_by_run": {name: run["first_wait_h"]["longest"] / easy["first_wait_h"]["longest"] for name, run in own.items()},
            "longest_time_without_cards_over_easy": worst_over_easy("wait_h", "longest"),
            "preemptions_per_job": max(own[name]["preemptions_per_job"] for name in preempting),
            "replay_seconds": max(run["replay_seconds"] for run in own.values())}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    simulated.add_options(parser)
    parser.add_argument("--quick", action="store_true", help="without the runs that have a checkpoint each 30 min only")
    options = parser.parse_args()
    if not simulated.has(options, "philly/philly.csv"):
        return 0
    philly = ["--trace", "philly", os.path.join(options.shared, "philly")]
    peers = {"srtf": [*philly, "--order", "peer:srtf", "--resume-cost", "0s"], **{f"{order}_flat": [*philly, "--order", f"peer:{order}@flat"] for order in ("fifo", "easy", "sjf", "sjf_aged")},
             **{order + WHOLE: [*philly, "--order", f"peer:{order}"] for order in ("easy", "sjf")}}
    relaxed = own_runs([*philly, "--locality", "relaxed"], options)
    whole = own_runs(philly, options)
    wanted = {**peers, **relaxed, **{name + WHOLE: arguments for name, arguments in whole.items()}}
    runs = {name: answer["runs"][0] for name, answer in simulated.all_of(options, wanted).items()}

    for name, run in runs.items():
        simulated.line(name, run)
    result = {"benchmark": "philly", "simulated": True, "jobs": runs["srtf"]["jobs"], "cards": 512, "mean_completion_h": {name: run["completion_h"]["mean"] for name, run in runs.items()}}
    own = figures({name: runs[name] for name in relaxed}, runs["easy_flat"], runs["sjf_flat"], runs["srtf"])
    on_nodes = figures({name: runs[name + WHOLE] for name in whole}, runs["easy" + WHOLE], runs["sjf" + WHOLE], runs["srtf"])
    result.update(own)
    # What shortest-first without preemption and a bound on the wait exclude of each other, on the textbook's own terms.
    result["without_preemption"] = {name: {"mean_over_sjf": runs[name + "_flat"]["completion_h"]["mean"] / runs["sjf_flat"]["completion_h"]["mean"],
                                           "longest_wait_over_easy": runs[name + "_flat"]["first_wait_h"]["longest"] / runs["easy_flat"]["first_wait_h"]["longest"]}
                                    for name in ("sjf", "sjf_aged", "easy")}
    # What relaxed locality costs: of the jobs of 2 to 8 cards.
    result["spread_over_nodes"] = {name: {"jobs_percent": runs[name]["spread_jobs_percent"], "card_hours_percent": runs[name]["spread_card_hours_percent"]} for name in relaxed}
    result.update({key + WHOLE: value for key, value in on_nodes.items()})
    print("any cards, as near each other as can be, against a flat pool:")
    missed = simulated.judge(result, {key: target for key, target in TARGETS.items() if key in result})
    waits = result["longest_wait_over_easy_by_run"]
    print("  longest wait for a first start over EASY's: " + ", ".join(f"{name} {value:.2f}" for name, value in waits.items()))
    print("  nobody stopped, flat pool: " + "; ".join(f"{name} {row['mean_over_sjf']:.2f} of sjf's mean, longest wait {row['longest_wait_over_easy']:.2f} of EASY's"
                                                      for name, row in result["without_preemption"].items()))
    print("on as few nodes as hold the job, against the same (SRTF: flat all the same):")
    simulated.judge(result, {key + WHOLE: target for key, target in TARGETS.items() if key in on_nodes})
    for name, part in result["spread_over_nodes"].items():
        print(f"  {name}: {part['jobs_percent']:.1f} % of the jobs of 2 to 8 cards ran on several nodes, {part['card_hours_percent']:.1f} % of their card hours")
    print(json.dumps(rounded(result)))
    print(f"mean completion: known {runs['known']['completion_h']['mean']:.2f} h, noisy {runs['noisy']['completion_h']['mean']:.2f} h, unknown {runs['unknown']['completion_h']['mean']:.2f} h; "
          f"SRTF {runs['srtf']['completion_h']['mean']:.2f} h, EASY {runs['easy_flat']['completion_h']['mean']:.1f} h; {missed} of the targets missed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
