#include <fmt/format.h>

#include <iostream>

#include "../commands.h"
#include "../print.h"

namespace crater::cli {
namespace {

// Server-sent events: calls `on_event` with each event's data.
class EventReader {
  public:
    explicit EventReader(std::function<void(const Json&)> on_event) : on_event_(std::move(on_event)) {}
    void take(std::string_view piece) {
        buffer_ += piece;
        for (std::size_t end; (end = buffer_.find("\n\n")) != std::string::npos; buffer_.erase(0, end + 2)) {
            const std::string block = buffer_.substr(0, end);
            const auto data = block.find("data: ");
            if (data == std::string::npos) continue;
            const Json event =
                Json::parse(block.substr(data + 6, block.find('\n', data) - data - 6), nullptr, false);
            if (!event.is_discarded() && event.contains("sequence")) on_event_(event);
        }
    }

  private:
    std::function<void(const Json&)> on_event_;
    std::string buffer_;
};

}  // namespace

void add_events(CLI::App& app, Context& context) {
    struct Options {
        std::string kind, subject, since;
        int count = 0;
    };
    auto options = std::make_shared<Options>();
    auto* events = app.add_subcommand("events", "Live events, until Ctrl-C");
    events->add_option("--kind", options->kind, "Only these, separated by commas: job, node, queue, quota");
    events->add_option("--subject", options->subject, "Only this job, node, queue or tenant");
    events->add_option("--since", options->since,
                       "Begin after this sequence number; 0 shows all that is kept");
    events->add_option("--count", options->count, "End after so many");
    events->callback([&context, options] {
        int seen = 0;
        EventReader reader([&](const Json& event) {
            ++seen;
            if (context.output == Output::json)
                std::cout << event.dump() << std::endl;
            else
                std::cout << fmt::format("{}  {:<5} {}  {}{}{}", text(event, "at"), text(event, "kind"),
                                         text(event, "subject"), column_state(context, text(event, "state")),
                                         text(event, "reason").empty() ? "" : "  " + text(event, "reason"),
                                         text(event, "detail").empty() ? "" : ": " + text(event, "detail"))
                          << std::endl;
        });
        need(Client(context).stream(
            with_query("/api/v1/events",
                       {{"kind", options->kind}, {"subject", options->subject}, {"since", options->since}}),
            [&](std::string_view piece) {
                reader.take(piece);
                return options->count == 0 || seen < options->count;
            }));
    });
}

}  // namespace crater::cli
