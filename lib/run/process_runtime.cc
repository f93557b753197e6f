// The `process` runtime: folders, groups and shims of tasks. All state is on disk, so this object may vanish
// at any instant.
//
// Order of a start: launch.json (durable) -> groups -> shim.launch -> shim, which takes shim.lock, writes who
// it is, and only then begins. So a folder without launch.json began nothing; one whose shim.lock is empty
// may begin again; one with a written lock never does.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "cgroup.h"
#include "crater/base/ids.h"
#include "crater/base/log.h"
#include "fs.h"
#include "log_file.h"
#include "process_tree.h"
#include "start_shim.h"
#include "task.h"

namespace crater::run {
namespace {

struct Entry {
    Launch launch;
    TaskEvent last;
    bool active = true;  // a shim lives, or is about to
    bool advisory = false;
    Fd answer;          // the shim's first word is awaited
    std::string group;  // "" = none
    std::string stop;   // a stop request that could not be written yet
    std::int64_t usage_cpu_us = -1, usage_ticks = 0;
};

struct Refusal {
    Reason reason = Reason::start_failed;
    std::string detail;
};

class ProcessRuntime final : public Runtime {
  public:
    ProcessRuntime(ProcessOptions options, Loop& loop, const Clock& clock)
        : options_(std::move(options)), loop_(loop), clock_(clock), groups_(options_.cgroup_parent) {}

    ~ProcessRuntime() override {
        *alive_ = false;
        loop_.cancel(timer_);
    }

    Result<void> open() {
        const bool root = ::geteuid() == 0;
        namespaces_ = namespaces_work();
        user_ = task_user(options_.task_user);
        if (root && user_.name != options_.task_user)
            log::info("the account for tasks is missing; they run as nobody",
                      {{"task_user", options_.task_user}});
        // Without namespaces a task has to pass through these folders to its own.
        const mode_t passage = root && !namespaces_ ? 0711 : 0700;
        CRATER_TRY_VOID(make_folder(options_.data, passage));
        std::error_code error;
        options_.data = std::filesystem::canonical(options_.data, error);
        if (error)
            return fail(Code::internal, "the data folder " + options_.data + ": " + error.message(), "data");
        for (const char* part : {"/tasks", "/checkpoints", "/output"})
            CRATER_TRY_VOID(make_folder(options_.data + part, passage));
        CRATER_TRY_VOID(make_folder(options_.data + "/logs", 0700));
        if (::access(options_.shim.c_str(), X_OK) != 0)
            return fail(Code::not_found, "crater-shim is not at " + options_.shim, "shim");
        std::error_code shim_error;
        options_.shim = std::filesystem::absolute(options_.shim, shim_error);
        boot_ = boot_id();
        tag_ = sha256_hex(options_.data).substr(0, 8);
        if (!options_.simulated) groups_.self_test();
        return {};
    }

    void listen(Listener listener) override { listener_ = std::move(listener); }

    std::vector<Adopted> adopt() override {
        std::vector<Adopted> all;
        for (const auto& name : list_folder(options_.data + "/tasks")) {
            Entry* entry = load(name);
            if (entry && !exists(paths(*entry).folder + "/settled"))
                all.push_back({entry->launch, entry->last});
        }
        // Groups of ours whose task is not there any more.
        for (const auto& group : groups_.names())
            if (group.starts_with(tag_ + ".") && group != shim_group() && !has_group(group))
                drop_group(group);
        arm();
        return all;
    }

    void start(Launch launch) override {
        const TaskId id = launch.id;
        if (const auto valid = check_id(id.job, "job"); !valid)
            return tell(event(id, State::failed, Reason::rejected, valid.error().text()));
        if (Entry* known = find(id))
            return tell(known->last);  // said again: the first answer may have been lost
        Entry& entry = entries_[id];
        entry.launch = std::move(launch);
        entry.last = event(id, State::preparing, Reason::launched, "");
        if (const auto refusal = check(entry); !refusal.detail.empty()) return end_unstarted(entry, refusal);
        entry.last.advisory = entry.advisory;
        if (const auto kept = keep(entry); !kept)
            return end_unstarted(entry, {Reason::start_failed, kept.error().message});
        tell(entry.last);
        begin(entry);
        arm();
    }

    void stop(const TaskId& id, Millis grace, State outcome, Reason reason, std::string detail) override {
        Entry* entry = find(id);
        if (!entry) {
            if (detail.empty()) detail = "it was not on the node";
            return tell(event(id, outcome, reason, detail));
        }
        if (!entry->active) return tell(entry->last);
        entry->stop = format_stop(grace, outcome, reason, detail);
        deliver_stop(*entry);
    }

    void settle(const TaskId& id) override {
        const Entry* entry = find(id);
        if (!entry || entry->active || !exists(paths(*entry).folder)) return;
        if (const auto done = write_whole(paths(*entry).folder, "settled", ""); !done)
            log::warning("an exit stays unsettled", {{"task", id.text()}, {"error", done.error().message}});
    }

    void forget(const TaskId& id) override {
        Entry* entry = find(id);
        if (!entry || entry->active) return;
        const TaskPaths at = paths(*entry);
        // Out of sight in one step, so that a crash in between leaves nothing that looks like a task.
        const std::string doomed = at.folder + ".gone";
        if (::rename(at.folder.c_str(), doomed.c_str()) == 0) remove_tree(doomed);
        for (const char* tail : {"", ".1", ".next"}) ::unlink((at.log + tail).c_str());
        entries_.erase(id);
    }

    std::vector<Kept> kept() override {
        std::vector<Kept> all;
        for (const auto& [id, entry] : entries_)
            if (!in_use(entry)) all.push_back({id, entry.last.at});
        return all;
    }

    // The time of a job folder is set when an attempt ends.
    std::vector<JobFolder> job_folders() override {
        std::set<std::string> busy;
        for (const auto& [id, entry] : entries_)
            if (in_use(entry)) busy.insert(id.job);
        std::vector<JobFolder> all;
        for (const auto kind : {JobFolder::Kind::checkpoints, JobFolder::Kind::output})
            for (const auto& job : list_folder(job_root(kind))) {
                struct stat info {};
                if (busy.contains(job) || ::lstat((job_root(kind) + "/" + job).c_str(), &info) != 0) continue;
                if (S_ISDIR(info.st_mode)) all.push_back({kind, job, Instant{info.st_mtim.tv_sec * 1000}});
            }
        return all;
    }

    void drop(const JobFolder& folder) override {
        if (!check_id(folder.job, "job")) return;
        for (const auto& [id, entry] : entries_)
            if (id.job == folder.job && in_use(entry)) return;
        remove_tree(job_root(folder.kind) + "/" + folder.job);
    }

    Space space() override {
        struct statvfs disk {};
        if (::statvfs(options_.data.c_str(), &disk) != 0) return {};
        const auto unit = static_cast<std::int64_t>(disk.f_frsize);
        return {Bytes(static_cast<std::int64_t>(disk.f_bavail) * unit),
                Bytes(static_cast<std::int64_t>(disk.f_blocks) * unit)};
    }

    std::vector<TaskUsage> usage() override {
        std::vector<TaskUsage> all;
        for (auto& [id, entry] : entries_) {
            if (!entry.active || entry.last.state != State::running) continue;
            GroupUsage now = entry.group.empty() ? GroupUsage{} : groups_.usage(entry.group);
            if (!now.known) now = tree_usage(look_at_lock(paths(entry).folder).pid);
            const std::int64_t ticks = clock_.ticks_us();
            TaskUsage use{id, 0, Bytes(now.memory_bytes), now.read_bytes, now.write_bytes, now.pids};
            if (entry.usage_cpu_us >= 0 && ticks > entry.usage_ticks)
                use.cpu_cores = std::max(0.0, static_cast<double>(now.cpu_us - entry.usage_cpu_us) /
                                                  static_cast<double>(ticks - entry.usage_ticks));
            entry.usage_cpu_us = now.cpu_us;
            entry.usage_ticks = ticks;
            all.push_back(use);
        }
        return all;
    }

    Result<std::pair<std::string, std::int64_t>> log(const TaskId& id, std::int64_t offset,
                                                     std::size_t bytes_max) override {
        CRATER_TRY_VOID(check_id(id.job, "job"));
        const TaskPaths at = task_paths(options_, id);
        return read_log(at.log, at.folder + "/log.index", offset, bytes_max);
    }

    Enforcement enforcement() const override {
        const auto how = [&](Controller c) {
            return options_.simulated ? std::string("simulated") : groups_.mechanism(c);
        };
        const std::string gpu = options_.simulated ? "simulated" : "advisory";
        return {how(Controller::cpu),
                how(Controller::memory),
                how(Controller::pids),
                how(Controller::disk_io),
                gpu,
                gpu};
    }

  private:
    // It runs, or its end is not known where it must be.
    bool in_use(const Entry& entry) const {
        return entry.active || !exists(paths(entry).folder + "/settled");
    }
    std::string job_root(JobFolder::Kind kind) const {
        return options_.data + (kind == JobFolder::Kind::checkpoints ? "/checkpoints" : "/output");
    }
    TaskPaths paths(const Entry& entry) const { return task_paths(options_, entry.launch.id); }
    std::string shim_group() const { return tag_ + ".shims"; }
    bool has_group(const std::string& group) const {
        return std::any_of(entries_.begin(), entries_.end(),
                           [&](const auto& e) { return e.second.active && e.second.group == group; });
    }

    Entry* find(const TaskId& id) {
        const auto it = entries_.find(id);
        if (it != entries_.end()) return &it->second;
        return check_id(id.job, "job") ? load(id.text()) : nullptr;
    }

    TaskEvent event(const TaskId& id, State state, Reason reason, std::string detail) const {
        TaskEvent out;
        out.id = id;
        out.state = state;
        out.reason = reason;
        out.detail = std::move(detail);
        out.at = clock_.now();
        return out;
    }
    void tell(const TaskEvent& what) {
        if (!telling_) return;
        loop_.post([this, alive = alive_, what] {
            if (*alive && listener_) listener_(what);
        });
    }

    // --- starting
    // -----------------------------------------------------------------------------------------------

    // What this node cannot do for the task; sets `advisory` where that is allowed.
    Refusal check(Entry& entry) const {
        const Launch& launch = entry.launch;
        if (const auto problem = launch_problem(launch, options_); !problem.empty())
            return {Reason::start_failed, problem};
        if (launch.run_as_root && !options_.allow_root_tasks)
            return {Reason::rejected, "this node runs no tasks as root"};
        const Allocation& a = launch.allocation;
        std::string missing;
        const auto need = [&](bool needed, Controller c, const char* what) {
            if (!needed || (!options_.simulated && groups_.holds(c))) return;
            missing += (missing.empty() ? "" : "; ") + std::string(what) + " (" +
                       (options_.simulated ? "simulated" : groups_.why_not(c)) + ")";
        };
        need(static_cast<bool>(a.cpu), Controller::cpu, "cpu");
        need(static_cast<bool>(a.memory), Controller::memory, "memory");
        need(!a.cpu_set.empty(), Controller::cpuset, "cpu_set");
        need(!a.disk.empty() && (a.disk_iops || a.disk_bandwidth), Controller::disk_io, "disk_io");
        if (!options_.simulated && !a.disk.empty() && (a.disk_iops || a.disk_bandwidth) &&
            disk_number(a.disk).empty())
            missing += (missing.empty() ? "" : "; ") + std::string("disk_io (disk ") + a.disk +
                       " is not on this machine)";
        if (!namespaces_)
            missing += (missing.empty() ? "" : "; ") + std::string("isolation (no namespaces without root)");
        // A part of a real card is a promise among neighbours until something on the node holds it: that is
        // shown, and not refused.
        const bool shares_card =
            !options_.simulated &&
            std::any_of(a.gpus.begin(), a.gpus.end(), [](const GpuSlice& g) { return !g.exclusive; });
        entry.advisory = !missing.empty() || shares_card;
        if (missing.empty() || options_.allow_unenforced || options_.simulated) return {};
        return {Reason::unenforceable, "this node cannot hold: " + missing};
    }

    // The launch is on disk when this returns.
    Result<void> keep(Entry& entry) {
        const TaskPaths at = paths(entry);
        const mode_t passage = ::geteuid() == 0 && !namespaces_ ? 0711 : 0700;
        remove_tree(at.folder);  // what a torn start left
        CRATER_TRY_VOID(make_folder(at.folder, passage));
        const std::string text = format_launch(entry.launch, boot_);
        // What cannot be read back would be a task that nobody finds again.
        if (!parse_launch(text))
            return fail(Code::invalid, "the launch cannot be kept: a value in it is out of its range");
        return write_durable(at.folder, "launch.json", text);
    }

    // Everything from the kept launch to the shim; may be repeated after a crash anywhere in it.
    void begin(Entry& entry) {
        if (const auto refusal = try_begin(entry); !refusal.detail.empty()) end_unstarted(entry, refusal);
    }

    Refusal try_begin(Entry& entry) {
        const TaskPaths at = paths(entry);
        const Launch& launch = entry.launch;
        Setting setting;
        setting.namespaces = namespaces_;
        setting.user = launch.run_as_root ? TaskUser{0, 0, "root"} : user_;
        if (!options_.simulated) {
            entry.group = tag_ + "." + launch.id.text();
            if (auto made = groups_.make(entry.group, held_limits(entry))) {
                setting.groups = *std::move(made);
            } else if (options_.allow_unenforced) {
                entry.advisory = entry.last.advisory = true;
                setting.groups.folders = groups_.make_plain(entry.group);
            } else {
                return {Reason::unenforceable, made.error().message};
            }
            setting.shim_groups = groups_.make_plain(shim_group());
        }
        auto answer = start_shim(at, launch, setting);
        if (!answer) return {Reason::start_failed, answer.error().message};
        entry.answer = *std::move(answer);
        return {};
    }

    Result<Fd> start_shim(const TaskPaths& at, const Launch& launch, const Setting& setting) const {
        for (const auto& own : {at.work, at.temp, at.checkpoints, at.output})
            CRATER_TRY_VOID(make_folder(own, 0700, setting.user.uid, setting.user.gid));
        CRATER_TRY_VOID(make_folder(at.root, 0700));
        CRATER_TRY_VOID(write_whole(at.folder, "shim.launch", shim_launch(launch, options_, setting)));
        return spawn_shim(options_.shim, at.folder);
    }

    Limits held_limits(const Entry& entry) const {
        Limits limits = limits_of(entry.launch.spec, entry.launch.allocation);
        if (disk_number(limits.disk).empty()) limits.disk.clear();  // refused, or advisory
        return limits;
    }

    // Ends a task that no shim ran: with a record, when its folder is there.
    void end_unstarted(Entry& entry, const Refusal& refusal) {
        const std::string text =
            format_record({{"code", refusal.reason == Reason::start_failed ? "126" : "-1"},
                           {"reason", std::string(name_of(refusal.reason))},
                           {"error", refusal.detail},
                           {"ended", std::to_string(clock_.now().ms)}});
        const TaskPaths at = paths(entry);
        if (exists(at.folder + "/launch.json"))
            if (const auto done = write_durable(at.folder, "exit", text); !done)
                log::warning("the end of a task could not be recorded",
                             {{"task", entry.launch.id.text()}, {"error", done.error().message}});
        finish(entry, text);
    }

    // --- watching
    // -----------------------------------------------------------------------------------------------

    void arm() {
        if (timer_ != 0) return;
        const bool busy =
            !dying_groups_.empty() ||
            std::any_of(entries_.begin(), entries_.end(), [](const auto& e) { return e.second.active; });
        if (!busy) return;
        timer_ = loop_.after(options_.poll, [this] {
            timer_ = 0;
            look();
            arm();
        });
    }

    void look() {
        for (auto& [id, entry] : entries_)
            if (entry.active) look_at(entry);
        const auto groups = std::exchange(dying_groups_, {});
        for (const auto& group : groups) drop_group(group);
    }

    void look_at(Entry& entry) {
        const std::string folder = paths(entry).folder;
        if (!entry.stop.empty()) deliver_stop(entry);
        const bool answered = hear_answer(entry);
        if (!entry.active) return;
        const ShimLock lock =
            look_at_lock(folder);  // before the record: a shim writes it while it holds the lock
        see_running(entry, folder);
        if (const auto exit = read_text(folder + "/exit")) return finish(entry, *exit);
        if (lock.held || !answered) return;
        vanish(entry, lock);
    }

    void see_running(Entry& entry, const std::string& folder) {
        if (entry.last.state != State::preparing) return;
        const auto started = parse_record(read_text(folder + "/started").value_or(""));
        if (!started) return;
        entry.last.state = State::running;
        entry.last.reason = Reason::process_started;
        entry.last.at = {number_in(*started, "at")};
        tell(entry.last);
    }

    // False while the shim may still be on its way to the lock.
    bool hear_answer(Entry& entry) {
        if (!entry.answer) return true;
        char text[1024];
        const ssize_t got = ::read(entry.answer.get(), text, sizeof text);
        if (got < 0) return false;  // nothing yet
        entry.answer.reset();
        if (got > 0 && text[0] == 'E')
            end_unstarted(entry,
                          {Reason::start_failed,
                           "crater-shim: " + std::string(text + 1, static_cast<std::size_t>(got - 1))});
        return true;
    }

    // The shim is gone and left no record.
    void vanish(Entry& entry, const ShimLock& lock) {
        const bool rebooted = lock.written && lock.boot != boot_;
        if (!rebooted) {
            if (!entry.group.empty()) groups_.kill(entry.group);
            if (!namespaces_) kill_by_environment("CRATER_TEMP_PATH=" + paths(entry).temp);
        }
        if (rebooted)
            return end_unstarted(entry, {Reason::node_lost, "the node restarted while the task ran"});
        if (lock.written)
            return end_unstarted(entry,
                                 {Reason::killed_by_signal, "its shim was killed, and the task with it"});
        end_unstarted(entry, {Reason::start_failed, "crater-shim ended before it began"});
    }

    void deliver_stop(Entry& entry) {
        const auto done = write_whole(paths(entry).folder, "stop", entry.stop);
        if (done)
            entry.stop.clear();
        else
            log::warning("a stop could not be delivered yet",
                         {{"task", entry.launch.id.text()}, {"error", done.error().message}});
    }

    void finish(Entry& entry, const std::string& exit_text) {
        const std::string folder = paths(entry).folder;
        see_running(entry, folder);
        entry.last = final_event(entry.launch.id, exit_text, read_text(folder + "/stop").value_or(""));
        entry.last.advisory = entry.advisory;
        if (!entry.last.at) entry.last.at = clock_.now();
        entry.active = false;
        entry.answer.reset();
        entry.stop.clear();
        if (!entry.group.empty()) drop_group(std::exchange(entry.group, {}));
        remove_tree(folder + "/root");
        if (!exists(folder + "/settled")) {
            // From here on the job's folders grow old. Only at the end itself: not when an old record is read
            // again.
            const TaskPaths at = paths(entry);
            for (const auto& shared : {at.checkpoints, at.output})
                ::utimensat(AT_FDCWD, shared.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
        }
        if (!exists(folder + "/settled")) tell(entry.last);
    }

    void drop_group(const std::string& group) {
        if (groups_.remove(group)) return;
        groups_.kill(group);
        dying_groups_.push_back(group);
    }

    // --- after a restart
    // ----------------------------------------------------------------------------------------

    // The task of a folder, taken up where it is; nullptr when the folder holds none. Tells nothing: `last`
    // says it.
    Entry* load(const std::string& name) {
        const std::string folder = options_.data + "/tasks/" + name;
        if (!exists(folder)) return nullptr;
        auto kept = parse_launch(read_text(folder + "/launch.json", 64 << 20).value_or(""));
        const ShimLock lock =
            look_at_lock(folder);  // before the record: a shim writes it while it holds the lock
        if (!kept || kept->first.id.text() != name) {
            if (!lock.held) remove_tree(folder);  // nothing was begun
            return nullptr;
        }
        const TaskId id = kept->first.id;
        if (const auto it = entries_.find(id); it != entries_.end()) return &it->second;
        const bool told = std::exchange(telling_, false);
        Entry& entry = entries_[id];
        entry.launch = std::move(kept->first);
        if (const auto refusal = check(entry); refusal.reason == Reason::unenforceable) entry.advisory = true;
        entry.last = event(id, State::preparing, Reason::launched, "");
        entry.last.advisory = entry.advisory;
        if (!options_.simulated) entry.group = tag_ + "." + id.text();
        if (const auto exit = read_text(folder + "/exit"))
            finish(entry, *exit);
        else if (lock.held)
            take_up(entry, folder);
        else if (lock.written)
            vanish(entry, lock);
        else if (kept->second == boot_)
            begin(entry);
        else
            end_unstarted(entry, {Reason::node_lost, "the node restarted before the task began"});
        telling_ = told;
        arm();
        return &entry;
    }

    void take_up(Entry& entry, const std::string& folder) {
        see_running(entry, folder);
        if (entry.group.empty()) return;
        if (const auto again = groups_.make(entry.group, held_limits(entry)); !again)
            log::warning("a limit could not be set again",
                         {{"task", entry.launch.id.text()}, {"error", again.error().message}});
    }

    ProcessOptions options_;
    Loop& loop_;
    const Clock& clock_;
    Cgroups groups_;
    Listener listener_;
    std::map<TaskId, Entry> entries_;
    std::vector<std::string> dying_groups_;  // still have members
    TaskUser user_;
    std::string boot_, tag_;
    bool namespaces_ = false, telling_ = true;
    TimerId timer_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

Result<std::unique_ptr<Runtime>> process_runtime(ProcessOptions options, Loop& loop, const Clock& clock) {
    auto runtime = std::make_unique<ProcessRuntime>(std::move(options), loop, clock);
    CRATER_TRY_VOID(runtime->open());
    return runtime;
}

}  // namespace crater::run
