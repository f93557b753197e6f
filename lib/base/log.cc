#include "crater/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "crater/base/ids.h"
#include "crater/base/log_level.h"
#include "crater/base/quantity.h"
#include "log_line.h"

namespace crater::log {
namespace {

constexpr std::string_view level_names[] = {"debug", "info", "warning", "error"};

struct Output {
    std::string component;
    bool human = false;
    std::shared_ptr<spdlog::logger> logger;
};

std::atomic<Level> lowest{Level::info};

Output make_output(std::string_view component) {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto logger = std::make_shared<spdlog::logger>("crater", std::move(sink));
    logger->set_pattern("%v");
    logger->set_level(spdlog::level::trace);
    logger->flush_on(spdlog::level::trace);
    return {std::string(component), isatty(STDERR_FILENO) == 1, std::move(logger)};
}

// Never destroyed: the last words of a daemon may come from a static's destructor.
Output& output() {
    static auto* const it = new Output(make_output("crater"));
    return *it;
}

Instant wall_now() {
    return {std::chrono::duration_cast<Millis>(std::chrono::system_clock::now().time_since_epoch()).count()};
}

}  // namespace

std::string json_line(Instant time, Level level, std::string_view component, std::string_view message,
                      const Fields& fields) {
    std::string out = "{\"time\":\"";
    out += format(time);
    out += "\",\"level\":\"";
    out += level_names[static_cast<int>(level)];
    out += "\",\"component\":";
    append_json_string(out, component);
    out += ",\"msg\":";
    append_json_string(out, message);
    for (const auto& field : fields) {
        out += ',';
        append_json_string(out, field.key);
        out += ':';
        if (field.bare)
            out += field.value;
        else
            append_json_string(out, field.value);
    }
    out += '}';
    return out;
}

std::string human_line(Instant time, Level level, std::string_view message, const Fields& fields) {
    constexpr std::string_view marks[] = {"\033[2mdebug\033[0m", "\033[32minfo \033[0m",
                                          "\033[33mwarn \033[0m", "\033[31merror\033[0m"};
    std::string out = format(time).substr(11, 12);
    out += ' ';
    out += marks[static_cast<int>(level)];
    out += ' ';
    // A message from outside must not drive the terminal.
    const auto append = [&out](std::string_view text) {
        for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    };
    append(message);
    for (const auto& field : fields) {
        out += "  \033[2m";
        append(field.key);
        out += "=\033[0m";
        append(field.value);
    }
    return out;
}

void setup(std::string_view component, Level level) {
    output() = make_output(component);
    lowest = level;
}

void set_level(Level level) { lowest = level; }

Result<Level> parse_level(std::string_view text) {
    for (std::size_t i = 0; i < std::size(level_names); ++i)
        if (level_names[i] == text) return static_cast<Level>(i);
    if (text == "warn") return Level::warning;
    const std::string near = nearest(text, level_names);
    return fail(Code::invalid, shown(text) + " is not a log level; allowed: debug, info, warning, error",
                "log_level", near.empty() ? "" : "did you mean \"" + near + "\"?");
}

bool enabled(Level level) { return level >= lowest.load(std::memory_order_relaxed); }

void write(Level level, std::string_view message, Fields fields) {
    if (!enabled(level)) return;
    const Output& out = output();
    const std::string line = out.human ? human_line(wall_now(), level, message, fields)
                                       : json_line(wall_now(), level, out.component, message, fields);
    out.logger->log(spdlog::level::info, spdlog::string_view_t(line));
}

}  // namespace crater::log
