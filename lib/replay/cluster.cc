#include "cluster.h"

#include <bit>

namespace crater::replay {
namespace {

std::size_t kind_of(const Request& request) {
    return request.shares_card() ? 0 : static_cast<std::size_t>(request.cards);
}

}  // namespace

ServerState empty_state(const Server& server) {
    ServerState out;
    out.cpu = server.cpu, out.memory = server.memory, out.model = server.model, out.cards = server.cards;
    for (int c = 0; c < server.cards; ++c) out.left[static_cast<std::size_t>(c)] = whole_card;
    out.gpu = server.cards * whole_card;
    return out;
}

std::vector<ServerState> empty_cluster(const Trace& trace) {
    std::vector<ServerState> out;
    out.reserve(trace.servers.size());
    for (const auto& server : trace.servers) out.push_back(empty_state(server));
    return out;
}

bool ServerState::can_take(const Request& request) const {
    if (cpu < request.cpu || memory < request.memory) return false;
    if (request.cards == 0) return true;
    if (!(request.accepts >> model & 1)) return false;
    int enough = 0;
    for (int c = 0; c < cards; ++c) enough += left[static_cast<std::size_t>(c)] >= request.per_card;
    return enough >= request.cards;
}

std::array<int, cards_max> left_in_order(const ServerState& server) {
    std::array<int, cards_max> out{};
    for (std::size_t c = 0; c < static_cast<std::size_t>(server.cards); ++c) {
        auto at = c;
        for (; at > 0 && out[at - 1] > server.left[c]; --at) out[at] = out[at - 1];
        out[at] = server.left[c];
    }
    return out;
}

Cards whole_cards(const ServerState& server, int wanted) {
    Cards out = 0;
    for (int c = 0; c < server.cards && wanted > 0; ++c)
        if (server.left[static_cast<std::size_t>(c)] == whole_card) out |= Cards{1} << c, --wanted;
    return out;
}

int tightest_card(const ServerState& server, int milli) {
    int best = -1, least = whole_card + 1;
    for (int c = 0; c < server.cards; ++c) {
        const int left = server.left[static_cast<std::size_t>(c)];
        if (left >= milli && left < least) least = left, best = c;
    }
    return best;
}

Cards cards_for(const ServerState& server, const Request& request, int shared) {
    if (request.shares_card()) return Cards{1} << shared;
    return whole_cards(server, request.cards);
}

void take(ServerState& server, const Request& request, Cards cards) {
    CRATER_CHECK(server.cpu >= request.cpu && server.memory >= request.memory, "a server is overbooked");
    CRATER_CHECK(std::popcount(cards) == request.cards,
                 "a pod has another number of cards than it asked for");
    CRATER_CHECK(request.cards == 0 || (request.accepts >> server.model & 1),
                 "a pod has cards of a model it does not accept");
    server.cpu -= request.cpu;
    server.memory -= request.memory;
    server.gpu -= static_cast<int>(request.gpu());
    for (; cards; cards &= cards - 1) {
        int& left = server.left[static_cast<std::size_t>(std::countr_zero(cards))];
        CRATER_CHECK(left >= request.per_card, "a card is overbooked");
        left -= request.per_card;
    }
    if (request.cards > 0) ++server.holds[kind_of(request)];
}

void give_back(ServerState& server, const Request& request, Cards cards) {
    server.cpu += request.cpu;
    server.memory += request.memory;
    server.gpu += static_cast<int>(request.gpu());
    for (; cards; cards &= cards - 1) {
        int& left = server.left[static_cast<std::size_t>(std::countr_zero(cards))];
        left += request.per_card;
        CRATER_CHECK(left <= whole_card, "more of a card came back than was taken");
    }
    if (request.cards > 0) --server.holds[kind_of(request)];
}

}  // namespace crater::replay
