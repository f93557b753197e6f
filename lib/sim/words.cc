// Messages in words, for who reads a trace.
#include <fmt/format.h>

#include "world_impl.h"

namespace crater::sim {
namespace {

template <class M>
std::string whom(const M& m) {
    return fmt::format("{}.{}.{}", m.job(), m.task(), m.attempt());
}

std::string words_of(const proto::ToScheduler& m) {
    switch (m.body_case()) {
        case proto::ToScheduler::kRegister: {
            std::string out = fmt::format("register {} with {} cards", m.register_().boot_id(),
                                          m.register_().inventory().gpus_size());
            for (const auto& held : m.register_().held())
                out += fmt::format(", holds {} {}", whom(held), held.state());
            return out;
        }
        case proto::ToScheduler::kHeartbeat: return fmt::format("heartbeat {}", m.heartbeat().number());
        case proto::ToScheduler::kReport:
            return fmt::format("report {}: {} is {} {} at {}", m.report().number(), whom(m.report()),
                               m.report().state(), m.report().reason(), m.report().at_ms());
        case proto::ToScheduler::kRefused:
            return fmt::format("refuses {} {}", m.refused().code(), whom(m.refused()));
        case proto::ToScheduler::kTable: {
            std::string out = fmt::format("table {}:", m.table().request());
            for (const auto& row : m.table().rows()) out += fmt::format(" {} {}", whom(row), row.state());
            return out;
        }
        default: return "says something else";
    }
}

std::string words_of(const proto::ToAgent& m) {
    const std::string term = fmt::format("term {}: ", m.term());
    switch (m.body_case()) {
        case proto::ToAgent::kWelcome: return term + "welcome";
        case proto::ToAgent::kRefuse: return term + "refuse: " + m.refuse().message();
        case proto::ToAgent::kLaunch: {
            const auto& a = m.launch().allocation();
            std::string out = term + fmt::format("launch {} with {} millicores, {} bytes", whom(m.launch()),
                                                 a.cpu(), a.memory_bytes());
            for (const auto& gpu : a.gpus())
                out += fmt::format(", {}{} of card {}", gpu.compute(), gpu.exclusive() ? " (whole)" : "",
                                   gpu.index());
            return out;
        }
        case proto::ToAgent::kStop:
            return term + fmt::format("stop {} to be {} in {} ms: {}", whom(m.stop()), m.stop().outcome(),
                                      m.stop().grace_ms(), m.stop().reason() + " " + m.stop().detail());
        case proto::ToAgent::kAck: return term + fmt::format("ack {}", m.ack().number());
        case proto::ToAgent::kForget: return term + "forget " + whom(m.forget());
        case proto::ToAgent::kTable: return term + fmt::format("table? {}", m.table().request());
        default: return term + "says something else";
    }
}

template <class M>
std::string parsed(const std::string& bytes) {
    M message;
    return message.ParseFromString(bytes) ? words_of(message) : "unreadable";
}

}  // namespace

std::string World::Impl::in_words(const std::string& way, const std::string& message) {
    return way.starts_with("scheduler") ? parsed<proto::ToAgent>(message)
                                        : parsed<proto::ToScheduler>(message);
}

}  // namespace crater::sim
