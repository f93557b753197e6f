// The three files of a trace: servers, pods, arrivals.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "crater/base/ids.h"
#include "crater/replay/trace.h"
#include "csv.h"

namespace crater::replay {
namespace {

constexpr int most = std::numeric_limits<int>::max();
constexpr std::size_t models_max = 64;

Result<void> read_servers(const TraceFiles& files, Trace& out) {
    Csv csv(files.servers, files.servers_named);
    CRATER_TRY_VOID(csv.columns({"sn", "cpu_milli", "memory_mib", "gpu", "model"}));
    while (csv.next()) {
        Server server;
        server.name = csv.text(0);
        CRATER_TRY(cpu, csv.number(1, 0, most));
        CRATER_TRY(memory, csv.number(2, 0, most));
        CRATER_TRY(cards, csv.number(3, 0, cards_max));
        server.cpu = cpu, server.memory = memory, server.cards = cards;
        const auto model = std::find(out.models.begin(), out.models.end(), csv.text(4));
        server.model = static_cast<int>(model - out.models.begin());
        if (model == out.models.end()) out.models.emplace_back(csv.text(4));
        if (out.models.size() > models_max)
            return fail(Code::invalid, "there are more than 64 card models", csv.place());
        out.servers.push_back(std::move(server));
    }
    std::sort(out.servers.begin(), out.servers.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    if (out.gpu() == 0) return fail(Code::invalid, "no server has a card", files.servers_named);
    return {};
}

// Names that no server has are kept in the text and accept nothing.
std::uint64_t accepted(const std::string& models, const std::vector<std::string>& known) {
    if (models.empty()) return ~std::uint64_t{0};
    std::uint64_t out = 0;
    for (std::size_t from = 0; from <= models.size();) {
        const auto bar = std::min(models.find('|', from), models.size());
        for (std::size_t m = 0; m < known.size(); ++m)
            if (models.compare(from, bar - from, known[m]) == 0) out |= std::uint64_t{1} << m;
        from = bar + 1;
    }
    return out;
}

Result<Request> read_request(const Csv& csv, const Trace& trace) {
    Request out;
    CRATER_TRY(cpu, csv.number(1, 0, most));
    CRATER_TRY(memory, csv.number(2, 0, most));
    CRATER_TRY(cards, csv.number(3, 0, cards_max));
    out.cpu = cpu, out.memory = memory, out.cards = cards;
    if (cards == 0) {
        out.accepts = ~std::uint64_t{0};
        return out;
    }
    CRATER_TRY(per_card, csv.number(4, 1, most));
    out.per_card = std::min(per_card, whole_card);
    if (cards > 1 && out.per_card < whole_card)
        return fail(Code::invalid,
                    "asks for " + std::to_string(per_card) + " milli of " + std::to_string(cards) +
                        " cards each; parts of a card are taken of one card only",
                    csv.place());
    out.models = csv.text(5);
    out.accepts = accepted(out.models, trace.models);
    return out;
}

// The number at the end of a pod's name: 255 of "openb-pod-0255".
bool pod_number(std::string_view name, std::uint64_t& out) {
    const auto dash = name.rfind('-');
    return read_number(name.substr(dash == std::string_view::npos ? 0 : dash + 1), out);
}

using Numbers = std::unordered_map<std::uint64_t, int>;  // number of a pod -> its request

Result<Numbers> read_pods(const TraceFiles& files, Trace& out) {
    Csv csv(files.pods, files.pods_named);
    CRATER_TRY_VOID(csv.columns({"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}, {"gpu_spec"}));
    std::map<std::tuple<int, int, int, int, std::string>, int> known;
    Numbers numbers;
    while (csv.next()) {
        CRATER_TRY(request, read_request(csv, out));
        const auto key =
            std::tuple(request.cpu, request.memory, request.cards, request.per_card, request.models);
        const auto [it, is_new] = known.emplace(key, static_cast<int>(out.requests.size()));
        if (is_new) out.requests.push_back(std::move(request));
        out.pods.push_back(it->second);
        std::uint64_t number = 0;
        if (!pod_number(csv.text(0), number))
            return fail(Code::invalid, "name is " + shown(csv.text(0)) + "; it must end with -NUMBER",
                        csv.place());
        if (!numbers.emplace(number, it->second).second)
            return fail(Code::invalid, "a second pod has the number " + std::to_string(number), csv.place());
    }
    if (out.pods.empty()) return fail(Code::invalid, "there is no pod", files.pods_named);
    return numbers;
}

// The words of one line, one after the other.
struct Words {
    std::string_view left;
    std::string_view next() {
        while (!left.empty() && (left.front() == ' ' || left.front() == '\r')) left.remove_prefix(1);
        const auto word = left.substr(0, std::min(left.find_first_of(" \r"), left.size()));
        left.remove_prefix(word.size());
        return word;
    }
};

struct Order {
    std::vector<std::uint64_t> arrivals, ranks;
};

// The two lines of the seed.
Result<Order> read_order(const TraceFiles& files, std::uint64_t seed) {
    Order out;
    std::vector<std::string> seeds;
    std::string line;
    for (int number = 1; std::getline(files.arrivals, line); ++number) {
        Words words{line};
        const auto kind = words.next();
        if (kind.empty()) continue;
        const auto place = files.arrivals_named + " line " + std::to_string(number);
        const auto of = words.next();
        std::uint64_t its_seed = 0;
        if ((kind != "arrival" && kind != "rank") || !read_number(of, its_seed))
            return fail(
                Code::invalid,
                "begins with " + shown(line.substr(0, 20)) + "; \"arrival SEED\" or \"rank SEED\" is needed",
                place);
        if (kind == "arrival") seeds.emplace_back(of);
        if (its_seed != seed) continue;
        auto& list = kind == "arrival" ? out.arrivals : out.ranks;
        for (auto word = words.next(); !word.empty(); word = words.next()) {
            list.emplace_back();
            if (!read_number(word, list.back()))
                return fail(Code::invalid,
                            "its value " + std::to_string(list.size()) + " is " + shown(word) +
                                "; a number is needed",
                            place);
        }
    }
    if (!out.arrivals.empty()) return out;
    std::string all;
    for (const auto& s : seeds) all += (all.empty() ? "" : ", ") + s;
    const auto close = nearest(std::to_string(seed), seeds);
    return fail(Code::invalid,
                "no arrivals for seed " + std::to_string(seed) + " in " + files.arrivals_named + "; it has " +
                    (all.empty() ? "none" : all),
                "seed", close.empty() ? "" : "did you mean " + close + "?");
}

Result<void> apply_order(const Order& order, const Numbers& numbers, const TraceFiles& files, Trace& out) {
    const auto of_seed = " of seed " + std::to_string(out.seed);
    for (const auto number : order.arrivals) {
        const auto it = numbers.find(number);
        if (it == numbers.end())
            return fail(Code::invalid,
                        "an arrival" + of_seed + " is pod " + std::to_string(number) + ", which is not in " +
                            files.pods_named,
                        files.arrivals_named);
        out.arrivals.push_back(it->second);
    }
    if (order.ranks.size() != out.servers.size())
        return fail(Code::invalid,
                    "there are " + std::to_string(order.ranks.size()) + " ranks" + of_seed + "; " +
                        files.servers_named + " has " + std::to_string(out.servers.size()) + " servers",
                    files.arrivals_named);
    std::vector<Server> by_rank(out.servers.size());
    for (std::size_t s = 0; s < by_rank.size(); ++s) {
        const auto rank = order.ranks[s];
        if (rank >= by_rank.size() || !by_rank[rank].name.empty())
            return fail(
                Code::invalid,
                "rank " + std::to_string(rank) + of_seed + " stands twice or is beyond the last server",
                files.arrivals_named);
        by_rank[rank] = std::move(out.servers[s]);
    }
    out.servers = std::move(by_rank);
    return {};
}

}  // namespace

std::int64_t Trace::gpu() const {
    std::int64_t sum = 0;
    for (const auto& server : servers) sum += std::int64_t{server.cards} * whole_card;
    return sum;
}

Result<Trace> parse_trace(const TraceFiles& files, const std::string& workload, std::uint64_t seed) {
    Trace out;
    out.workload = workload;
    out.seed = seed;
    CRATER_TRY_VOID(read_servers(files, out));
    CRATER_TRY(numbers, read_pods(files, out));
    CRATER_TRY(order, read_order(files, seed));
    CRATER_TRY_VOID(apply_order(order, numbers, files, out));
    return out;
}

}  // namespace crater::replay
