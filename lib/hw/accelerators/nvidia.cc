#include <algorithm>
#include <map>
#include <optional>

#include "accelerators/accelerators.h"
#include "accelerators/nvidia_card.h"
#include "crater/base/log.h"

namespace crater::hw {
namespace {

class NvidiaCards final : public Accelerators {
  public:
    NvidiaCards(std::string library, Tree tree) : path_(std::move(library)), tree_(std::move(tree)) {
        open();
    }
    ~NvidiaCards() override { close_events(); }

    std::vector<Gpu> cards() override {
        if (!library_) open();
        if (!library_) return {};
        collect_events();
        std::vector<nvml::Device> devices;
        std::vector<Gpu> cards;
        read_all(devices, cards);
        nvidia::link_cards(*library_, devices, cards);
        for (auto& card : cards)
            if (const auto fault = xids_.find(card.uuid); fault != xids_.end() && card.healthy) {
                card.healthy = false;
                card.health_detail = fault->second;
            }
        known_ = cards;
        event_ = false;
        return cards;
    }

    std::vector<GpuSample> sample() override {
        std::vector<GpuSample> samples;
        for (std::uint32_t i = 0; library_ && i < count(); ++i)
            if (nvml::Device device = handle(i)) samples.push_back(nvidia::sample_card(*library_, device, i));
        return samples;
    }

    bool changed() override {
        if (!library_) {
            open();
            return library_ != nullptr && count() > 0;
        }
        collect_events();
        if (event_ || count() > known_.size()) return true;
        for (const auto& card : known_) {
            if (xids_.contains(card.uuid)) continue;
            const nvml::Device device = handle(static_cast<std::uint32_t>(card.index));
            if ((device && nvidia::card_fault(*library_, device).empty()) != card.healthy) return true;
        }
        return false;
    }

    bool simulated() const override { return library_ && library_->fake(); }

  private:
    void open() {
        std::string why;
        library_ = nvml::Library::open(path_, why);
        if (!library_ && why != why_) log::debug("no NVIDIA cards", {{"why", why}});
        why_ = why;
        if (library_) register_events();
    }

    std::uint32_t count() const {
        std::uint32_t count = 0;
        return nvml::call(library_->device_count, &count) == nvml::success ? count : 0;
    }

    // Null for a card that does not answer.
    nvml::Device handle(std::uint32_t index) const {
        nvml::Device device = nullptr;
        return nvml::call(library_->device_by_index, index, &device) == nvml::success ? device : nullptr;
    }

    void read_all(std::vector<nvml::Device>& devices, std::vector<Gpu>& cards) const {
        const auto add = [&](nvml::Device device, Gpu card) {
            devices.push_back(device);
            cards.push_back(std::move(card));
        };
        const std::uint32_t present = count();
        for (std::uint32_t i = 0; i < present; ++i) {
            const nvml::Device device = handle(i);
            Gpu card = device ? nvidia::read_card(*library_, device, i, tree_) : Gpu{.index = i};
            if (const Gpu* before = known(i); before && card.uuid.empty())
                card = *before;  // it cannot even say its name
            if (!device) card.healthy = false, card.health_detail = "the card does not answer";
            if (device && !card.healthy && card.memory.value == 0)
                if (const Gpu* before = known(i)) card.memory = before->memory;
            card.nvlink_peers.clear();
            add(card.healthy ? device : nullptr, std::move(card));
        }
        for (const auto& before : known_) {
            const auto same = [&](const Gpu& card) {
                return card.index == before.index || card.uuid == before.uuid;
            };
            if (std::any_of(cards.begin(), cards.end(), same)) continue;
            Gpu card = before;
            card.healthy = false;
            card.health_detail = "the card is gone from the driver's list";
            card.nvlink_peers.clear();
            add(nullptr, std::move(card));
        }
    }

    const Gpu* known(std::int64_t index) const {
        for (const auto& card : known_)
            if (card.index == index) return &card;
        return nullptr;
    }

    void register_events() {
        if (nvml::call(library_->event_set_create, &events_) != nvml::success) events_ = nullptr;
        for (std::uint32_t i = 0; events_ && i < count(); ++i)
            if (nvml::Device device = handle(i))
                nvml::call(library_->register_events, device, nvml::event_xid, events_);
    }

    void close_events() {
        if (library_ && events_) nvml::call(library_->event_set_free, events_);
    }

    void collect_events() {
        constexpr int events_per_visit_max = 64;
        for (int n = 0; events_ && n < events_per_visit_max; ++n) {
            nvml::EventData event{};
            if (nvml::call(library_->event_wait, events_, &event, 0U) != nvml::success) return;
            if (event.type != nvml::event_xid || !nvidia::fatal_xid(event.data)) continue;
            char uuid[96] = {};
            if (nvml::call(library_->uuid, event.device, uuid, static_cast<std::uint32_t>(sizeof uuid)) !=
                nvml::success)
                continue;
            xids_[uuid] = "the driver reported XID " + std::to_string(event.data);
            event_ = true;
        }
    }

    std::string path_, why_;
    Tree tree_;
    std::unique_ptr<nvml::Library> library_;
    nvml::EventSet events_ = nullptr;
    std::vector<Gpu> known_;  // as last given
    std::map<std::string, std::string>
        xids_;  // uuid -> fault; until the agent starts again, as after a reset
    bool event_ = false;
};

}  // namespace

std::unique_ptr<Accelerators> nvidia_accelerators(std::string library, Tree tree) {
    return std::make_unique<NvidiaCards>(std::move(library), std::move(tree));
}

}  // namespace crater::hw
