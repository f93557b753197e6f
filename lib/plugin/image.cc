// The views of one decision as one block of memory, and back.
#include <algorithm>
#include <cstring>
#include <map>

#include "crater/base/error.h"
#include "crater/plugin/protocol.h"

namespace crater::plugin {
namespace {

using engine::CardView;
using engine::JobView;
using engine::NodeView;
using Labels = std::map<std::string, std::string>;

constexpr std::size_t step = 8;  // every object begins at a multiple of this
constexpr std::size_t rounded(std::size_t bytes) { return (bytes + step - 1) / step * step; }

// The most that the pieces can take, so that writing need not look for the end.
std::size_t bound_of(std::string_view text) { return rounded(text.size() + 1); }
std::size_t bound_of(const Labels& labels) {
    std::size_t sum = 0;
    for (const auto& [key, value] : labels) sum += sizeof(crater_label) + bound_of(key) + bound_of(value);
    return sum;
}
std::size_t bound_of(const NodeView& node) {
    std::size_t sum = sizeof(crater_node_view) + sizeof(void*) + bound_of(node.inventory->name) +
                      bound_of(node.inventory->labels) + sizeof(std::uint8_t) + sizeof(double);
    for (const CardView& card : node.cards)
        sum += sizeof(crater_card_view) + sizeof(void*) + bound_of(card.gpu->model);
    return sum;
}
std::size_t bound_of(const JobView& view) {
    const JobSpec& spec = *view.job->spec;
    return sizeof(crater_job_view) + bound_of(view.job->id) + bound_of(spec.name) +
           bound_of(view.job->tenant) + bound_of(view.job->queue) + bound_of(spec.labels) +
           bound_of(spec.resources.gpu.model);
}

class Writer {
  public:
    explicit Writer(std::span<std::byte> memory) : memory_(memory) {}

    // Zeroed room for `count` of T, and where it is.
    template <class T>
    std::uint64_t room(std::size_t count) {
        const std::size_t at = at_;
        at_ += rounded(sizeof(T) * count);
        CRATER_CHECK(at_ <= memory_.size());
        std::memset(memory_.data() + at, 0, at_ - at);
        return at;
    }
    template <class T>
    T* at(std::uint64_t place) {
        return reinterpret_cast<T*>(memory_.data() + place);
    }
    template <class T>
    static T* as_pointer(std::uint64_t place) {
        return reinterpret_cast<T*>(static_cast<std::uintptr_t>(place));
    }
    const char* text(std::string_view text) {
        const auto place = room<char>(text.size() + 1);
        std::memcpy(at<char>(place), text.data(), text.size());
        return as_pointer<const char>(place);
    }
    const crater_label* labels(const Labels& labels) {
        const auto place = room<crater_label>(labels.size());
        std::size_t i = 0;
        for (const auto& [key, value] : labels) at<crater_label>(place)[i++] = {text(key), text(value)};
        return as_pointer<const crater_label>(place);
    }
    // The cards of a node are mostly of one model.
    const char* model(const std::string& name) {
        if (!last_model_ || *last_model_ != name) last_model_ = &name, last_model_text_ = text(name);
        return last_model_text_;
    }

  private:
    std::span<std::byte> memory_;
    std::size_t at_ = 0;
    const std::string* last_model_ = nullptr;
    const char* last_model_text_ = nullptr;
};

std::uint32_t cards_of(MilliGpu count) { return static_cast<std::uint32_t>((count.value + 999) / 1000); }
std::uint32_t small(std::int64_t number) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(number, 0, UINT32_MAX));
}
std::uint32_t type_number(JobType type) {
    switch (type) {
        case JobType::unset: break;
        case JobType::training: return CRATER_JOB_TRAINING;
        case JobType::inference: return CRATER_JOB_INFERENCE;
        case JobType::batch: return CRATER_JOB_BATCH;
        case JobType::interactive: return CRATER_JOB_INTERACTIVE;
    }
    return CRATER_JOB_UNSET;
}
std::uint32_t interconnect_number(Interconnect interconnect) {
    switch (interconnect) {
        case Interconnect::any: break;
        case Interconnect::nvlink: return CRATER_INTERCONNECT_NVLINK;
        case Interconnect::same_numa: return CRATER_INTERCONNECT_SAME_NUMA;
    }
    return CRATER_INTERCONNECT_ANY;
}

void set_request(crater_job_view& out, const Resources& wanted, Writer& w) {
    out.gpu_cards = cards_of(wanted.gpu.count);
    out.gpu_milli = wanted.gpu.count.value;
    out.gpu_memory_mib = wanted.gpu.memory.value;
    out.gpu_compute_milli = wanted.gpu.compute.value_or(MilliGpu(0)).value;
    out.gpu_model = w.text(wanted.gpu.model);
    out.gpu_exclusive = wanted.gpu.exclusive;
    out.interconnect = interconnect_number(wanted.gpu.interconnect);
    out.cpu_milli = wanted.cpu.cores.value;
    out.memory_bytes = wanted.memory.size.value;
    out.memory_bandwidth = wanted.memory.bandwidth.value;
    out.disk_bytes = wanted.disk.size.value;
    out.disk_iops = wanted.disk.iops.value;
    out.disk_bandwidth = wanted.disk.read_mbps_min.value;
}

std::uint64_t write_job(const JobView& view, Writer& w) {
    const engine::EngineJob& job = *view.job;
    const auto place = w.room<crater_job_view>(1);
    crater_job_view& out = *w.at<crater_job_view>(place);
    out.size = sizeof out;
    out.type = type_number(view.type);
    out.id = w.text(job.id), out.name = w.text(job.spec->name);
    out.tenant = w.text(job.tenant), out.queue = w.text(job.queue);
    out.labels = w.labels(job.spec->labels);
    out.label_count = small(static_cast<std::int64_t>(job.spec->labels.size()));
    out.priority = job.priority;
    out.preemptible = job.preemptible;
    out.tasks = small(job.spec->tasks);
    out.tasks_waiting = small(view.waiting);
    set_request(out, job.spec->resources, w);
    out.submitted_ms = job.submitted.ms;
    out.duration_ms = job.spec->duration.count();
    return place;
}

void write_card(const CardView& card, crater_card_view& out, Writer& w) {
    out.size = sizeof out;
    out.index = static_cast<std::int32_t>(card.gpu->index);
    out.model = w.model(card.gpu->model);
    out.numa_node = static_cast<std::int32_t>(card.gpu->numa_node);
    out.tasks = small(card.tasks);
    out.healthy = card.gpu->healthy;
    out.taken = card.taken;
    out.memory_total_mib = card.gpu->memory.value;
    out.memory_free_mib = card.memory_free.value;
    out.compute_free_milli = card.compute_free.value;
    out.nvlink_peers = card.peers;
    out.nvlink_bandwidth = card.nvlink.value;
}

const crater_card_view* const* write_cards(const NodeView& node, Writer& w) {
    if (node.cards.empty()) return nullptr;
    const auto list = w.room<crater_card_view*>(node.cards.size());
    const auto cards = w.room<crater_card_view>(node.cards.size());
    for (std::size_t c = 0; c < node.cards.size(); ++c) {
        w.at<const crater_card_view*>(list)[c] =
            w.as_pointer<const crater_card_view>(cards + c * sizeof(crater_card_view));
        write_card(node.cards[c], w.at<crater_card_view>(cards)[c], w);
    }
    return w.as_pointer<const crater_card_view*>(list);
}

void write_node(const NodeView& node, crater_node_view& out, Writer& w) {
    out.size = sizeof out;
    out.card_count = small(static_cast<std::int64_t>(node.cards.size()));
    out.name = w.text(node.inventory->name);
    out.labels = w.labels(node.inventory->labels);
    out.label_count = small(static_cast<std::int64_t>(node.inventory->labels.size()));
    out.simulated = node.inventory->simulated;
    out.cards = write_cards(node, w);
    out.cards_chosen = node.chosen;
    out.cpu_total_milli = node.cpu_total.value, out.cpu_free_milli = node.cpu_free.value;
    out.memory_total_bytes = node.memory_total.value, out.memory_free_bytes = node.memory_free.value;
    out.memory_bandwidth_total = node.bandwidth_total.value;
    out.memory_bandwidth_free = node.bandwidth_free.value;
    out.disk_total_bytes = node.disk_total.value, out.disk_free_bytes = node.disk_free.value;
    out.disk_iops_total = node.iops_total.value, out.disk_iops_free = node.iops_free.value;
    out.tasks = small(node.tasks);
    out.tenant_tasks = small(node.tenant_tasks), out.job_tasks = small(node.job_tasks);
    out.score = node.score;
}

// ---- reading

struct Opener {
    std::byte* base;

    template <class T>
    void set(T*& pointer) const {
        pointer = reinterpret_cast<T*>(base + reinterpret_cast<std::uintptr_t>(pointer));
    }
    void set_labels(const crater_label*& labels, std::uint32_t count) const {
        set(labels);
        auto* own = const_cast<crater_label*>(labels);
        for (std::uint32_t i = 0; i < count; ++i) set(own[i].key), set(own[i].value);
    }
    void open(crater_job_view& job) const {
        set(job.id), set(job.name), set(job.tenant), set(job.queue), set(job.gpu_model);
        set_labels(job.labels, job.label_count);
    }
    void open(crater_node_view& node) const {
        set(node.name);
        set_labels(node.labels, node.label_count);
        if (node.card_count == 0) return;
        set(node.cards);
        auto** cards = const_cast<crater_card_view**>(node.cards);
        for (std::uint32_t c = 0; c < node.card_count; ++c) set(cards[c]), set(cards[c]->model);
    }
};

}  // namespace

std::optional<ImageHead> write_image(std::span<std::byte> memory, const JobView& job,
                                     std::span<const NodeView> nodes) {
    std::size_t bound = sizeof(ImageHead) + bound_of(job) + 2 * step;
    for (const NodeView& node : nodes) bound += bound_of(node);
    if (bound > memory.size()) return std::nullopt;

    Writer w(memory);
    const auto head_at = w.room<ImageHead>(1);
    ImageHead head;
    head.nodes = small(static_cast<std::int64_t>(nodes.size()));
    head.job_at = write_job(job, w);
    head.list_at = w.room<crater_node_view*>(nodes.size());
    head.keep_at = w.room<std::uint8_t>(nodes.size());
    head.score_at = w.room<double>(nodes.size());
    const auto nodes_at = w.room<crater_node_view>(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        w.at<const crater_node_view*>(head.list_at)[i] =
            w.as_pointer<const crater_node_view>(nodes_at + i * sizeof(crater_node_view));
        write_node(nodes[i], w.at<crater_node_view>(nodes_at)[i], w);
    }
    *w.at<ImageHead>(head_at) = head;
    return head;
}

Views open_image(std::byte* memory) {
    const Opener opener{memory};
    const auto& head = *reinterpret_cast<const ImageHead*>(memory);
    auto& job = *reinterpret_cast<crater_job_view*>(memory + head.job_at);
    opener.open(job);
    auto** list = reinterpret_cast<crater_node_view**>(memory + head.list_at);
    for (std::uint32_t i = 0; i < head.nodes; ++i) opener.set(list[i]), opener.open(*list[i]);
    return {&job, list, reinterpret_cast<std::uint8_t*>(memory + head.keep_at),
            reinterpret_cast<double*>(memory + head.score_at), head.nodes};
}

}  // namespace crater::plugin
