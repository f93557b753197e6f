// What a card is cut into in MIG mode. NVIDIA MIG user guide: a card has eight memory slots and seven compute
// slices (the A30 four and four); the places are those that `nvidia-smi mig -lgipp` lists on the A100 and
// H100, and are taken to be the same on later cards.
#include <charconv>

#include "crater/hw/source.h"
#include "tree.h"

namespace crater::hw {
namespace {

std::int64_t number_in(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// "3g.20gb:2:19968"
struct Row {
    std::string_view name;
    std::int64_t slices = 0, gigabytes = 0, memory = 0;
};
Row read_row(std::string_view text) {
    const auto parts = words(text, ":");
    Row row{.name = parts[0], .slices = number_in(parts[0])};
    row.gigabytes = number_in(row.name.substr(row.name.find('.') + 1));
    if (parts.size() > 2) row.memory = number_in(parts[2]);
    return row;
}

std::vector<std::int64_t> places(std::int64_t slices, std::int64_t size, std::int64_t slots) {
    if (slots == 8 && slices == 4) return {0};
    if (slots == 8 && slices == 2) return {0, 2, 4};
    std::vector<std::int64_t> starts;
    // The eighth slot has memory, but no compute slice of its own.
    const std::int64_t last = slots == 8 && size == 1 ? slots - 1 : slots;
    for (std::int64_t at = 0; at + size <= last; at += size) starts.push_back(at);
    return starts;
}

}  // namespace

std::vector<GpuPartition> mig_partitions(const GpuModel& model) {
    std::vector<GpuPartition> out;
    std::vector<Row> rows;
    for (const auto row : words(model.mig_profiles, " ")) rows.push_back(read_row(row));
    if (rows.empty()) return out;
    const Row& all = rows.back();
    const std::int64_t slots = all.slices == 7 ? 8 : all.slices;
    for (const Row& row : rows) {
        const std::int64_t size = (row.gigabytes * slots + all.gigabytes / 2) / all.gigabytes;
        const std::int64_t memory = row.memory > 0 ? row.memory : model.memory_mib * size / slots;
        out.push_back({std::string(row.name), MilliGpu(row.slices * 1000 / all.slices), Mebibytes(memory),
                       size, places(row.slices, size, slots)});
    }
    return out;
}

}  // namespace crater::hw
