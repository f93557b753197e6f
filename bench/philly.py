#!/usr/bin/python3
"""Order and preemption on the Philly trace: 82,247 training jobs on 64 simulated nodes of 8 cards, decided by Crater's engine in simulated time; each resume
pays 60 s. Baselines of the same run: textbook SRTF with free preemption on a flat pool, EASY backfill and shortest-first with backfill on the same nodes."""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import simulated  # noqa: E402

TARGETS = {"known_over_srtf": 0.97, "noisy_over_srtf": 1.00, "unknown_over_srtf": 1.12, "known_checkpoint_30m_over_srtf": 1.05, "noisy_checkpoint_30m_over_srtf": 1.08,
           "unknown_checkpoint_30m_over_srtf": 1.22, "no_preemption_over_sjf": 1.02, "fair_over_easy": 1.0, "large_over_easy": 1.0, "longest_wait_over_easy": 1.0,
           "preemptions_per_job": 1.0, "replay_seconds": 10.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    simulated.add_options(parser)
    parser.add_argument("--quick", action="store_true", help="without the runs that have a checkpoint each 30 min only")
    options = parser.parse_args()
    if not simulated.has(options, "philly/philly.csv"):
        return 0
    philly = ["--trace", "philly", os.path.join(options.shared, "philly")]
    wanted = {"srtf": [*philly, "--order", "peer:srtf", "--resume-cost", "0s"]}
    for order in ("fifo", "easy", "sjf"):
        wanted[order] = [*philly, "--order", f"peer:{order}"]
    for name, durations, order in (("known", "known", "shortest"), ("noisy", "noisy", "shortest"), ("unknown", "unknown", "las")):
        wanted[name] = [*philly, "--order", order, "--durations", durations]
        if not options.quick:
            wanted[name + "_checkpoint_30m"] = [*wanted[name], "--checkpoint", "30m"]
    wanted["no_preemption"] = [*philly, "--order", "shortest@keep"]
    wanted["fair"] = [*philly, "--order", "fair"]
    runs = {name: answer["runs"][0] for name, answer in simulated.all_of(options, wanted).items()}

    mean = {name: run["completion_h"]["mean"] for name, run in runs.items()}
    ours = [name for name in runs if name not in ("srtf", "fifo", "easy", "sjf")]
    preempting = [name for name in ours if name not in ("fair", "no_preemption")]
    for name, run in runs.items():
        simulated.line(name, run)
    result = {"benchmark": "philly", "simulated": True, "jobs": runs["easy"]["jobs"], "cards": 512, "mean_completion_h": mean,
              "no_preemption_over_sjf": mean["no_preemption"] / mean["sjf"], "fair_over_easy": mean["fair"] / mean["easy"],
              **{f"{name}_over_srtf": mean[name] / mean["srtf"] for name in preempting},
              # Of all our orders the worst.
              "large_over_easy": max(runs[name]["completion_big_h"]["mean"] for name in ours) / runs["easy"]["completion_big_h"]["mean"],
              "longest_wait_over_easy": max(runs[name]["first_wait_h"]["longest"] for name in ours) / runs["easy"]["first_wait_h"]["longest"],
              "longest_time_without_cards_over_easy": max(runs[name]["wait_h"]["longest"] for name in ours) / runs["easy"]["wait_h"]["longest"],
              "preemptions_per_job": max(runs[name]["preemptions_per_job"] for name in preempting),
              "replay_seconds": max(runs[name]["replay_seconds"] for name in ours)}
    missed = simulated.judge(result, {key: target for key, target in TARGETS.items() if key in result})
    print(json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in result.items()}))
    print(f"mean completion: known {mean['known']:.2f} h, noisy {mean['noisy']:.2f} h, unknown {mean['unknown']:.2f} h; SRTF {mean['srtf']:.2f} h, EASY {mean['easy']:.1f} h; "
          f"{missed} of the targets missed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
