#include "crater/wire/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <mutex>
#include <variant>

#include "crater/base/error.h"

namespace crater::wire {
namespace {

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) out.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

class Registry final : public MetricRegistry {
  public:
    void add(const MetricDef& def, double amount, const std::vector<std::string>& labels) override {
        const std::scoped_lock lock(mutex_);
        Series series = series_of(def, labels);
        if (auto* counter = std::get_if<prometheus::Counter*>(&series)) {
            CRATER_CHECK(amount >= 0, def.name);
            (*counter)->Increment(amount);
        } else if (auto* gauge = std::get_if<prometheus::Gauge*>(&series)) {
            (*gauge)->Increment(amount);
        } else {
            CRATER_CHECK(false, def.name);
        }
    }
    void set(const MetricDef& def, double value, const std::vector<std::string>& labels) override {
        const std::scoped_lock lock(mutex_);
        Series series = series_of(def, labels);
        auto* gauge = std::get_if<prometheus::Gauge*>(&series);
        CRATER_CHECK(gauge != nullptr, def.name);
        (*gauge)->Set(value);
    }
    void observe(const MetricDef& def, double value, const std::vector<std::string>& labels) override {
        const std::scoped_lock lock(mutex_);
        Series series = series_of(def, labels);
        auto* histogram = std::get_if<prometheus::Histogram*>(&series);
        CRATER_CHECK(histogram != nullptr, def.name);
        (*histogram)->Observe(value);
    }
    void remove(const MetricDef& def, const std::vector<std::string>& labels) override {
        const std::scoped_lock lock(mutex_);
        Metric& metric = metric_of(def);
        const auto it = metric.series.find(labels);
        if (it == metric.series.end()) return;
        std::visit([&](auto* series) { family_of(metric, series)->Remove(series); }, it->second);
        metric.series.erase(it);
    }
    std::string exposition() const override {
        const std::scoped_lock lock(mutex_);
        return prometheus::TextSerializer().Serialize(registry_.Collect());
    }

  private:
    using Series = std::variant<prometheus::Counter*, prometheus::Gauge*, prometheus::Histogram*>;
    using Family =
        std::variant<prometheus::Family<prometheus::Counter>*, prometheus::Family<prometheus::Gauge>*,
                     prometheus::Family<prometheus::Histogram>*>;
    struct Metric {
        Family family;
        std::vector<std::string> label_names;
        std::vector<double> buckets;
        std::map<std::vector<std::string>, Series> series;
    };

    template <class T>
    static prometheus::Family<T>* family_of(const Metric& metric, T*) {
        return std::get<prometheus::Family<T>*>(metric.family);
    }

    Metric& metric_of(const MetricDef& def) {
        const auto found = metrics_.find(def.name);
        if (found != metrics_.end()) return found->second;
        const std::string name(def.name), help(def.help);
        Metric metric;
        switch (def.kind) {
            case MetricKind::counter:
                metric.family = &prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
                break;
            case MetricKind::gauge:
                metric.family = &prometheus::BuildGauge().Name(name).Help(help).Register(registry_);
                break;
            case MetricKind::histogram:
                metric.family = &prometheus::BuildHistogram().Name(name).Help(help).Register(registry_);
                break;
        }
        metric.label_names = words(def.labels);
        for (const auto& bound : words(def.buckets)) metric.buckets.push_back(std::stod(bound));
        return metrics_.emplace(name, std::move(metric)).first->second;
    }

    Series series_of(const MetricDef& def, const std::vector<std::string>& values) {
        Metric& metric = metric_of(def);
        const auto found = metric.series.find(values);
        if (found != metric.series.end()) return found->second;
        CRATER_CHECK(values.size() == metric.label_names.size(), def.name);
        prometheus::Labels labels;
        for (std::size_t i = 0; i < values.size(); ++i) labels.emplace(metric.label_names[i], values[i]);
        const Series series = std::visit(
            [&]<class T>(prometheus::Family<T>* family) -> Series {
                if constexpr (std::is_same_v<T, prometheus::Histogram>)
                    return &family->Add(labels, metric.buckets);
                else
                    return &family->Add(labels);
            },
            metric.family);
        return metric.series.emplace(values, series).first->second;
    }

    mutable std::mutex mutex_;
    prometheus::Registry registry_;
    std::map<std::string, Metric, std::less<>> metrics_;
};

}  // namespace

std::unique_ptr<MetricRegistry> make_metrics() { return std::make_unique<Registry>(); }

}  // namespace crater::wire
