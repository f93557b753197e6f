// What is left of each server while a trace is replayed. Plain numbers, in the order of Trace::servers.
#pragma once

#include <array>
#include <vector>

#include "crater/replay/placer.h"
#include "crater/replay/trace.h"

namespace crater::replay {

struct ServerState {
    int cpu = 0, memory = 0, model = 0, cards = 0;
    int gpu = 0;                             // sum of `left`
    std::array<int, cards_max> left{};       // milli of each card
    std::array<int, cards_max + 1> holds{};  // pods it holds: [0] that share a card, [n] of n whole cards
    bool can_take(const Request& request) const;
};
ServerState empty_state(const Server& server);
std::vector<ServerState> empty_cluster(const Trace& trace);

// What is left of each card, the least first; behind them 0 for those that the server does not have.
std::array<int, cards_max> left_in_order(const ServerState& server);

using Cards = std::uint32_t;  // a set, by position
// The lowest fully idle cards; there must be as many.
Cards whole_cards(const ServerState& server, int wanted);
// Of the cards with enough left, the one with the least; the lowest of these. There must be one.
int tightest_card(const ServerState& server, int milli);
// Where the request goes: on `shared` when it shares a card, else on whole cards.
Cards cards_for(const ServerState& server, const Request& request, int shared);

// Aborts when the server does not hold what is taken: no figure may come of a placement that is none.
void take(ServerState& server, const Request& request, Cards cards);
void give_back(ServerState& server, const Request& request, Cards cards);

}  // namespace crater::replay
