#include "crater/sim/crew.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <list>

#include "crater/base/clock.h"
#include "crater/codec/codec.h"

namespace crater::sim {

// What a process says of what it played, as a line of JSON.
struct SaidViolation {
    std::string checker, text;
};
template <class V>
void describe(V& v, SaidViolation& s) {
    v.field("checker", s.checker, "Who found it.");
    v.field("text", s.text, "What.");
}
struct SaidPair {
    std::string fault, state;
    std::int64_t count = 0;
};
template <class V>
void describe(V& v, SaidPair& s) {
    v.field("fault", s.fault, "Fault.");
    v.field("state", s.state, "State.");
    v.field("count", s.count, "How often.");
}
struct Said {
    std::int64_t events = 0, faults = 0, messages = 0, commits = 0, submitted = 0, faults_without_effect = 0,
                 elapsed_ms = 0;
    std::uint64_t trace_hash = 0;
    bool twice = false;
    std::vector<SaidViolation> violations;
    std::vector<SaidPair> coverage;
    std::string trace;
};
template <class V>
void describe(V& v, Said& s) {
    v.field("events", s.events, "Events.");
    v.field("faults", s.faults, "Faults.");
    v.field("messages", s.messages, "Messages.");
    v.field("commits", s.commits, "Commits.");
    v.field("submitted", s.submitted, "Jobs.");
    v.field("faults_without_effect", s.faults_without_effect, "Faults that found nothing to strike.");
    v.field("elapsed_ms", s.elapsed_ms, "Virtual time.");
    v.field("trace_hash", s.trace_hash, "Of all that happened.");
    v.field("twice", s.twice, "Whether it was played twice.");
    v.field("violations", s.violations, "What was wrong.");
    v.field("coverage", s.coverage, "Faults and states that met.");
    v.field("trace", s.trace, "Last lines.");
}

namespace {

// No scenario takes so long; one that does will not end.
constexpr unsigned patience_s = 600;

// Leaves the heap in another order, so that what is made next lies elsewhere. Nothing may depend on
// addresses.
std::vector<std::unique_ptr<char[]>> shaken_heap(std::uint64_t seed) {
    SeededRng rng(seed);
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 40'000; ++i) blocks.push_back(std::make_unique<char[]>(16 + rng.below(700)));
    for (std::size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[rng.below(i)]);
    blocks.resize(blocks.size() / 2);
    return blocks;
}

std::string line_at(const std::string& text, std::size_t at) {
    return at >= text.size() ? "nothing" : text.substr(at, text.find('\n', at) - at);
}

Outcome play_here(const Assignment& assignment) {
    const Scenario scenario = assignment.scenario();
    Outcome outcome = play(scenario, assignment.tell);
    if (!assignment.twice || !outcome.violations.empty()) return outcome;
    const auto heap = shaken_heap(scenario.options.seed);
    Outcome again = play(scenario, Tell::everything);
    if (again.trace_hash == outcome.trace_hash) return outcome;
    outcome = play(scenario, Tell::everything);
    const auto differs =
        std::mismatch(outcome.trace.begin(), outcome.trace.end(), again.trace.begin(), again.trace.end());
    const auto line = static_cast<std::size_t>(
        outcome.trace.rend() - std::find(std::reverse_iterator(differs.first), outcome.trace.rend(), '\n'));
    std::string text = "played twice it is not the same";
    if (differs.first != outcome.trace.end())
        text += ": once " + line_at(outcome.trace, line) + ", once " + line_at(again.trace, line);
    outcome.trace.resize(std::min(outcome.trace.size(), line));
    outcome.violations.push_back({"determinism", text});
    return outcome;
}

std::string say(const Outcome& outcome, bool twice) {
    Said said;
    const Counts& counts = outcome.counts;
    said.events = static_cast<std::int64_t>(counts.events);
    said.faults = static_cast<std::int64_t>(counts.faults);
    said.messages = static_cast<std::int64_t>(counts.messages);
    said.commits = static_cast<std::int64_t>(counts.commits);
    said.submitted = static_cast<std::int64_t>(counts.submitted);
    said.faults_without_effect = static_cast<std::int64_t>(counts.faults_without_effect);
    said.elapsed_ms = outcome.elapsed.count();
    said.trace_hash = outcome.trace_hash;
    said.twice = twice;
    for (const Violation& v : outcome.violations) said.violations.push_back({v.checker, v.text});
    for (const auto& [fault, state] : Coverage::all())
        if (const auto count = outcome.coverage.count(fault, state))
            said.coverage.push_back({std::string(fault_row(fault).name), std::string(state_row(state).name),
                                     static_cast<std::int64_t>(count)});
    said.trace = outcome.trace;
    return codec::write_json(said);
}

std::optional<Report> heard(const std::string& text) {
    const auto said = codec::read_json<Said>(text);
    if (!said) return std::nullopt;
    Report report;
    report.twice = said->twice;
    Outcome& outcome = report.outcome;
    const auto count = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
    outcome.counts.events = count(said->events);
    outcome.counts.faults = count(said->faults);
    outcome.counts.messages = count(said->messages);
    outcome.counts.commits = count(said->commits);
    outcome.counts.submitted = count(said->submitted);
    outcome.counts.faults_without_effect = count(said->faults_without_effect);
    outcome.elapsed = Millis(said->elapsed_ms);
    outcome.trace_hash = said->trace_hash;
    outcome.trace = said->trace;
    for (const SaidViolation& v : said->violations) outcome.violations.push_back({v.checker, v.text});
    for (const SaidPair& pair : said->coverage)
        for (const StateRow& state : state_table())
            if (const auto fault = fault_named(pair.fault); fault && state.name == pair.state)
                outcome.coverage.hit(*fault, state.state, count(pair.count));
    return report;
}

void write_all(int fd, const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t wrote = write(fd, text.data() + at, text.size() - at);
        if (wrote <= 0) _exit(1);
        at += static_cast<std::size_t>(wrote);
    }
}

// The last whole line that somebody wrote before it died.
std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const auto end = text.rfind('\n');
    return end == std::string::npos ? text : text.substr(end + 1);
}

}  // namespace

// A process at work: what it says comes through one pipe, what it complains of through another.
struct Crew::Member {
    Assignment assignment;
    pid_t pid = -1;
    int fds[2] = {-1, -1};
    std::string texts[2];

    explicit Member(Assignment what) : assignment(std::move(what)) {
        int report[2], complaint[2];
        CRATER_CHECK(pipe2(report, O_CLOEXEC) == 0 && pipe2(complaint, O_CLOEXEC) == 0,
                     "no pipe for another process");
        pid = fork();
        CRATER_CHECK(pid >= 0, "no other process can be started");
        if (pid == 0) {
            close(report[0]);
            dup2(complaint[1], STDERR_FILENO);
            alarm(patience_s);
            write_all(report[1], say(play_here(assignment), assignment.twice));
            _exit(0);
        }
        close(report[1]);
        close(complaint[1]);
        fds[0] = report[0];
        fds[1] = complaint[0];
    }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    ~Member() {
        for (const int fd : fds)
            if (fd >= 0) close(fd);
        if (pid <= 0) return;
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }

    void take(int which) {
        char buffer[1 << 16];
        const ssize_t got = read(fds[which], buffer, sizeof buffer);
        if (got > 0) return texts[which].append(buffer, static_cast<std::size_t>(got)), void();
        if (got < 0 && errno == EINTR) return;
        close(std::exchange(fds[which], -1));
    }
    bool silent() const { return fds[0] < 0 && fds[1] < 0; }
    Report end() {
        int status = 0;
        waitpid(std::exchange(pid, -1), &status, 0);
        if (auto report = heard(texts[0])) return std::move(*report);
        Report report;
        const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        const std::string why = signal == SIGALRM ? "it does not end"
                                : signal          ? strsignal(signal)
                                                  : "it ended without a report";
        const std::string last = last_line(texts[1]);
        report.outcome.violations.push_back(
            {signal == SIGALRM ? "hang" : "crash", last.empty() ? why : why + ": " + last});
        return report;
    }
};

Crew::Crew(int size) : size_(static_cast<std::size_t>(std::max(1, size))) {}
Crew::~Crew() = default;

void Crew::play(const std::function<std::optional<Assignment>()>& next,
                const std::function<void(const Assignment&, Report)>& done) {
    std::list<Member> members;
    const auto fill = [&] {
        while (members.size() < size_) {
            auto assignment = next();
            if (!assignment) return;
            members.emplace_back(std::move(*assignment));
        }
    };
    for (fill(); !members.empty(); fill()) {
        std::vector<pollfd> polled;
        std::vector<std::pair<Member*, int>> whose;
        for (Member& member : members)
            for (const int which : {0, 1})
                if (member.fds[which] >= 0)
                    polled.push_back({member.fds[which], POLLIN, 0}), whose.emplace_back(&member, which);
        poll(polled.data(), polled.size(), -1);
        for (std::size_t i = 0; i < polled.size(); ++i)
            if (polled[i].revents) whose[i].first->take(whose[i].second);
        for (auto it = members.begin(); it != members.end();) {
            if (!it->silent()) {
                ++it;
                continue;
            }
            done(it->assignment, it->end());
            it = members.erase(it);
        }
    }
}

Report play_alone(Assignment assignment) {
    std::optional<Assignment> once(std::move(assignment));
    Report out;
    Crew(1).play([&] { return std::exchange(once, std::nullopt); },
                 [&](const Assignment&, Report report) { out = std::move(report); });
    return out;
}

}  // namespace crater::sim
