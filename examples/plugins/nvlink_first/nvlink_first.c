/* Highest NVLink bandwidth first: a node is as good as the links between the cards that the task would get.
 *
 * A link between two cards counts with the bandwidth of the slower one. The sum over all pairs of the task's
 * cards is compared with what it would be if every pair had the fastest link among all nodes in question.
 * Jobs of one card find all nodes equal. */
#include "crater/plugin.h"

/* Whether the task could get this card. */
static int serves(const crater_card_view* card, const crater_job_view* job) {
    const int64_t memory = job->gpu_memory_mib > 0 ? job->gpu_memory_mib : card->memory_total_mib;
    return card->healthy && !card->taken && card->memory_free_mib >= memory && card->compute_free_milli > 0;
}

static int64_t link_between(const crater_node_view* node, unsigned a, unsigned b) {
    if (!(node->cards[a]->nvlink_peers >> b & 1)) return 0;
    const int64_t of_a = node->cards[a]->nvlink_bandwidth, of_b = node->cards[b]->nvlink_bandwidth;
    const int64_t slower = of_a < of_b ? of_a : of_b;
    return slower > 0 ? slower : 1; /* linked, but nobody knows how fast */
}

/* Adds to `group` the card that has most bandwidth to those in it. Gives what it adds, -1 without a card. */
static int64_t add_best(const crater_node_view* node, uint64_t eligible, uint64_t* group) {
    int64_t best = -1;
    unsigned chosen = 0;
    for (unsigned c = 0; c < node->card_count; ++c) {
        if (!(eligible >> c & 1) || (*group >> c & 1)) continue;
        int64_t sum = 0;
        for (unsigned other = 0; other < node->card_count; ++other)
            if (*group >> other & 1) sum += link_between(node, c, other);
        if (sum > best) best = sum, chosen = c;
    }
    if (best >= 0) *group |= UINT64_C(1) << chosen;
    return best;
}

/* The bandwidth within a group that grows from one card. */
static int64_t group_from(const crater_node_view* node, uint64_t eligible, unsigned first, unsigned size) {
    uint64_t group = UINT64_C(1) << first;
    int64_t sum = 0;
    for (unsigned n = 1; n < size; ++n) {
        const int64_t added = add_best(node, eligible, &group);
        if (added < 0) return 0; /* fewer cards than it needs */
        sum += added;
    }
    return sum;
}

static int64_t best_group(const crater_node_view* node, const crater_job_view* job) {
    uint64_t eligible = node->cards_chosen;
    for (unsigned c = 0; c < node->card_count && node->cards_chosen == 0; ++c)
        if (serves(node->cards[c], job)) eligible |= UINT64_C(1) << c;
    int64_t best = 0;
    for (unsigned c = 0; c < node->card_count; ++c) {
        if (!(eligible >> c & 1)) continue;
        const int64_t sum = group_from(node, eligible, c, job->gpu_cards);
        if (sum > best) best = sum;
    }
    return best;
}

static int64_t fastest_link(const crater_node_view* const* nodes, size_t count) {
    int64_t fastest = 1;
    for (size_t i = 0; i < count; ++i)
        for (unsigned c = 0; c < nodes[i]->card_count; ++c)
            if (nodes[i]->cards[c]->nvlink_bandwidth > fastest)
                fastest = nodes[i]->cards[c]->nvlink_bandwidth;
    return fastest;
}

static int score(void* context, const crater_job_view* job, const crater_node_view* const* nodes,
                 size_t count, double* out) {
    (void)context;
    const double pairs = job->gpu_cards * (job->gpu_cards - 1.0) / 2;
    const double most = pairs * (double)fastest_link(nodes, count);
    for (size_t i = 0; i < count; ++i)
        out[i] = job->gpu_cards < 2 ? 1 : (double)best_group(nodes[i], job) / most;
    return 0;
}

const crater_plugin_descriptor* crater_plugin(void) {
    static const crater_plugin_descriptor descriptor = {
        .abi_version = CRATER_PLUGIN_ABI_VERSION,
        .size = sizeof(crater_plugin_descriptor),
        .name = "nvlink_first",
        .version = "1.0",
        .description = "Prefers the nodes whose free cards are joined by the fastest NVLink.",
        .score = score,
    };
    return &descriptor;
}
