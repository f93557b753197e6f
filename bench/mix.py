#!/usr/bin/python3
"""Training and inference services on the same 64 simulated nodes of 8 cards of 40 GiB, for one simulated week (docs/simulate.md says how the mix is made).
Backlogged, both kinds always waiting: how much of the GPU compute is really used and how much memory is stranded. With equal arrivals at 75 % of what whole
cards can serve: how long jobs wait. Baseline of the same run: a default scheduler that gives each job whole cards, first fit; strict order of arrival beside it."""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
import simulated  # noqa: E402

WHOLE = "peer:whole_card"
TARGETS = {"unused_percent": 30.0, "stranded_memory_percent": 12.0, "wait_over_whole_cards": 0.14}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    simulated.add_options(parser)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--order", default="fair", help="of Crater's engine")
    options = parser.parse_args()
    if not simulated.has(options, "philly/philly.csv", "azure-llm/AzureLLMInferenceTrace_conv.csv"):
        return 0

    def runs(load, *more):
        mix = ["--trace", "mix", options.shared, "--seed", options.seed, "--load", load, *more]
        answers = simulated.all_of(options, {name: [*mix, "--order", name] for name in (options.order, WHOLE, "peer:fifo")})
        return {name: answer["runs"][0] for name, answer in answers.items()}

    backlogged = runs(5, "--until", "7d")
    ours = backlogged[options.order]
    whole = backlogged[WHOLE]
    calm = runs(round(0.75 * whole["held_percent"] / 100, 4))
    for title, answer in (("backlogged", backlogged), ("75 % of what whole cards serve", calm)):
        print(f"{title}:")
        for name, run in answer.items():
            print(f"  {name:<18}compute used {run['used_percent']:5.1f} %, cards held {run['held_percent']:5.1f} %, stranded memory {run['stranded_memory_percent']:5.1f} %, "
                  f"mean wait {60 * run['wait_h']['mean']:8.1f} min, {run['ended']} of {run['jobs']} jobs ended", flush=True)
    whole_wait = calm[WHOLE]["wait_h"]["mean"]
    result = {"benchmark": "mix", "simulated": True, "seed": options.seed, "used_percent": ours["used_percent"], "unused_percent": 100 - ours["used_percent"],
              "stranded_memory_percent": ours["stranded_memory_percent"],
              "whole_card_used_percent": whole["used_percent"],
              "whole_card_stranded_memory_percent": whole["stranded_memory_percent"],
              "mean_wait_s": 3600 * calm[options.order]["wait_h"]["mean"], "whole_card_mean_wait_s": 3600 * whole_wait,
              "wait_over_whole_cards": calm[options.order]["wait_h"]["mean"] / max(whole_wait, 1e-9)}
    simulated.judge(result, TARGETS)
    print(json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in result.items()}))
    print(f"compute really used {result['used_percent']:.0f} % (whole cards {result['whole_card_used_percent']:.0f} %), stranded memory {result['stranded_memory_percent']:.0f} % "
          f"({result['whole_card_stranded_memory_percent']:.0f} %); mean wait at 75 % load {result['mean_wait_s']:.0f} s ({result['whole_card_mean_wait_s']:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
