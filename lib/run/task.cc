#include "task.h"

#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "crater/codec/codec.h"
#include "fs.h"

namespace crater::run {
namespace {

namespace fsys = std::filesystem;

bool inside(const std::string& path, const std::string& folder) {
    return path == folder || (path.starts_with(folder) && path[folder.size()] == '/') || folder == "/";
}

std::string normal(const std::string& path) {
    std::string text = fsys::path(path).lexically_normal();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

std::string resolved(const std::string& path) {
    std::error_code error;
    const auto real = fsys::weakly_canonical(path, error);
    return normal(error ? path : real.string());
}

}  // namespace

TaskPaths task_paths(const ProcessOptions& options, const TaskId& id) {
    TaskPaths paths;
    paths.folder = options.data + "/tasks/" + id.text();
    paths.work = paths.folder + "/work";
    paths.temp = paths.folder + "/tmp";
    paths.root = paths.folder + "/root";
    paths.log = options.data + "/logs/" + id.text() + ".log";
    paths.checkpoints = options.data + "/checkpoints/" + id.job;
    paths.output = options.data + "/output/" + id.job;
    return paths;
}

TaskUser task_user(const std::string& name) {
    TaskUser user;
    const bool root = ::geteuid() == 0;
    const passwd* entry = root ? ::getpwnam(name.c_str()) : ::getpwuid(::geteuid());
    if (entry && !(root && entry->pw_uid == 0)) return {entry->pw_uid, entry->pw_gid, entry->pw_name};
    if (!root) return {::geteuid(), ::getegid(), std::to_string(::geteuid())};
    return user;
}

Result<void> ensure_task_user(const std::string& name) {
    if (::getpwnam(name.c_str())) return {};
    if (::geteuid() != 0) return fail(Code::forbidden, "only root can make the account " + name, "task_user");
    const pid_t child = ::fork();
    if (child == 0) {
        ::execlp("useradd", "useradd", "--system", "--user-group", "--no-create-home", "--home-dir",
                 "/nonexistent", "--shell", "/usr/sbin/nologin", name.c_str(), nullptr);
        ::_exit(127);
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (::getpwnam(name.c_str())) return {};
    return fail(Code::internal, "useradd could not make the account " + name, "task_user",
                "make it by hand: useradd --system " + name);
}

bool namespaces_work() {
    if (::geteuid() != 0) return false;
    static const bool works = [] {
        const pid_t child = ::fork();
        if (child == 0) {
            const bool made = ::unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC) == 0 &&
                              ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
                              ::mount("crater", "/tmp", "tmpfs", 0, nullptr) == 0;
            ::_exit(made ? 0 : 1);
        }
        int status = 1;
        while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }();
    return works;
}

std::string boot_id() {
    std::string text = read_text("/proc/sys/kernel/random/boot_id").value_or("-");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::string format_launch(const Launch& launch, const std::string& boot) {
    const LaunchRecord record{launch.id.job,     launch.id.task, launch.id.attempt, launch.spec,
                              launch.allocation, launch.env,     launch.tenant,     boot,
                              launch.run_as_root};
    return codec::write_json(record, {.reveal = true});
}

std::optional<std::pair<Launch, std::string>> parse_launch(const std::string& text) {
    auto record = codec::read_json<LaunchRecord>(text, {.allow_unknown = true});
    if (!record) return std::nullopt;
    return std::pair(Launch{{record->job, record->task, record->attempt},
                            std::move(record->spec),
                            std::move(record->allocation),
                            std::move(record->env),
                            record->tenant,
                            record->run_as_root},
                     record->boot);
}

std::string launch_problem(const Launch& launch, const ProcessOptions& options) {
    const JobSpec& spec = launch.spec;
    if (!spec.image.empty()) return "an image needs the docker runtime";
    if (spec.command.argv.empty() || spec.command.argv.front().empty()) return "there is no command";
    const auto relative = [](const std::string& path) { return path.empty() || path.front() != '/'; };
    if (!spec.working_dir.empty() && relative(spec.working_dir))
        return "working_dir " + spec.working_dir + " is not absolute";
    for (std::size_t i = 0; i < spec.mounts.size(); ++i) {
        const Mount& m = spec.mounts[i];
        const std::string field = "mounts[" + std::to_string(i) + "]";
        if (relative(m.source) || relative(m.target)) return field + ": source and target must be absolute";
        if (normal(m.target) == "/") return field + ".target: the root cannot be replaced";
        if (inside(resolved(m.source), options.data) || inside(normal(m.target), options.data))
            return field + ": " + options.data + " is Crater's own";
    }
    return {};
}

std::string shim_launch(const Launch& launch, const ProcessOptions& options, const Setting& setting) {
    const TaskPaths paths = task_paths(options, launch.id);
    const JobSpec& spec = launch.spec;
    std::string out;
    const auto raw = [&](std::string_view text) {
        out += text.substr(0, text.find('\0'));
        out += '\0';
    };
    const auto put = [&](std::string_view key, std::string_view value) {
        raw(std::string(key) + "=" + std::string(value));
    };
    const auto number = [&](std::string_view key, std::int64_t value) { put(key, std::to_string(value)); };
    const auto bind = [&](std::string_view flags, const std::string& source, const std::string& target) {
        put("bind", flags);
        raw(source);
        raw(target);
    };
    number("crater-shim", 1);
    put("log", paths.log);
    number("log_max_bytes", static_cast<std::int64_t>(std::max<std::size_t>(options.log_bytes_max, 4096)));
    number("uid", setting.user.uid);
    number("gid", setting.user.gid);
    number("root_task", launch.run_as_root);
    number("namespaces", setting.namespaces);
    put("root", paths.root);
    for (const auto& folder : setting.groups.folders) put("cgroup", folder);
    for (const auto& folder : setting.shim_groups) put("shim_cgroup", folder);
    if (!setting.groups.memory_events.empty()) put("memory_events", setting.groups.memory_events);
    if (!setting.groups.cgroup_kill.empty()) put("cgroup_kill", setting.groups.cgroup_kill);
    if (setting.namespaces) {
        if (exists("/dev/shm")) put("tmpfs", "/dev/shm");
        for (const char* temp : {"/tmp", "/var/tmp"})
            if (exists(temp)) bind("o", paths.temp, temp);
        // A temp folder of its own must not hide what the job itself names there.
        const auto keep = [&](const std::string& path, std::string_view flags) {
            const std::string at = normal(path);
            if (!inside(at, options.data) && at != "/tmp" && at != "/var/tmp" &&
                (inside(at, "/tmp") || inside(at, "/var/tmp")) && exists(at))
                bind(flags, at, at);
        };
        if (!spec.working_dir.empty()) keep(spec.working_dir, "u?");
        for (const auto& arg : spec.command.argv)
            if (arg.starts_with('/')) keep(arg, "ur?");
        for (const Mount& m : spec.mounts) bind(m.read_only ? "ur" : "u", m.source, normal(m.target));
        if (const std::string seen = task_environment(launch, options).at("CRATER_OUTPUT_PATH");
            !inside(seen, paths.output) && output_path(launch, options) == paths.output)
            bind("", paths.output, seen);
        put("hide", options.data);
        put("hide", "/etc/crater");
        for (const auto& own : {paths.work, paths.temp, paths.checkpoints, paths.output}) bind("", own, own);
    }
    if (!options.simulated && launch.allocation.disk_size) {
        number("disk_bytes", launch.allocation.disk_size.value);
        put("disk_folder", paths.work);
        put("disk_folder", paths.temp);
        // The tasks of a gang share these; none of them answers for the others.
        if (spec.tasks == 1)
            for (const auto& own : {paths.checkpoints, paths.output}) put("disk_folder", own);
    }
    if (!options.simulated) {
        const auto& cpus = launch.allocation.cpu_set;
        std::string list;
        for (const auto cpu : cpus) list += (list.empty() ? "" : ",") + std::to_string(cpu);
        if (!list.empty()) put("cpus", list);
        if (launch.allocation.numa_node >= 0 && spec.numa_binding_policy != NumaPolicy::none &&
            exists("/sys/devices/system/node/node1"))
            put("numa", (spec.numa_binding_policy == NumaPolicy::strict ? "bind:" : "prefer:") +
                            std::to_string(launch.allocation.numa_node));
    }
    put("cwd", spec.working_dir.empty() ? paths.work : spec.working_dir);
    number("time_limit_ms", spec.time_limit.count());
    number("grace_ms", spec.grace_period.count());
    for (const auto& arg : spec.command.argv) put("arg", arg);
    for (const auto& [key, value] : task_environment(launch, options)) put("env", key + "=" + value);
    number("end", 1);
    return out;
}

std::string format_stop(Millis grace, State outcome, Reason reason, const std::string& detail) {
    // The shim reads the first line only.
    return "grace_ms=" + std::to_string(grace.count()) + "\n" +
           format_record({{"outcome", std::string(name_of(outcome))},
                          {"reason", std::string(name_of(reason))},
                          {"detail", detail}});
}

TaskEvent final_event(const TaskId& id, const std::string& exit_text, const std::string& stop_text) {
    TaskEvent event{.id = id,
                    .state = State::failed,
                    .reason = Reason::start_failed,
                    .detail = {},
                    .exit_code = -1,
                    .at = {},
                    .advisory = false};
    const auto record = parse_record(exit_text);
    if (!record) {
        event.detail = "the record of its end cannot be read";
        return event;
    }
    const auto text = [](const Record& from, const std::string& key) {
        const auto it = from.find(key);
        return it == from.end() ? std::string() : it->second;
    };
    const auto flag = [&](const char* key) { return number_in(*record, key) != 0; };
    const auto signal = static_cast<int>(number_in(*record, "signal"));
    event.exit_code = number_in(*record, "code", -1);
    event.at = {number_in(*record, "ended")};
    const auto is = [&](State state, Reason reason, std::string detail) {
        event.state = state;
        event.reason = reason;
        event.detail = std::move(detail);
    };
    const auto stop = parse_record(stop_text);
    const std::string name = signal > 0 && sigabbrev_np(signal) ? std::string("SIG") + sigabbrev_np(signal)
                                                                : "signal " + std::to_string(signal);
    if (const auto reason = text(*record, "reason"); !reason.empty()) {  // written by the runtime itself
        is(State::failed, Reason::start_failed, text(*record, "error"));
        for (const auto& row : enum_names(Reason{}))
            if (row.name == reason) event.reason = row.value;
    } else if (flag("stopped") && stop) {
        is(State::cancelled, Reason::user_cancelled, text(*stop, "detail"));
        for (const auto& row : enum_names(State{}))
            if (row.name == text(*stop, "outcome")) event.state = row.value;
        for (const auto& row : enum_names(Reason{}))
            if (row.name == text(*stop, "reason")) event.reason = row.value;
    } else if (const auto error = text(*record, "error"); !error.empty()) {
        is(State::failed, Reason::start_failed, error);
    } else if (flag("time_limit")) {
        is(State::failed, Reason::time_limit, flag("killed") ? "killed after its grace period" : "");
    } else if (event.exit_code == 0) {
        is(State::finished, Reason::exit_zero, "");
    } else if (flag("disk_full")) {
        is(State::failed, Reason::disk_full,
           "its folders hold " + format(Bytes(number_in(*record, "disk_used") >> 20 << 20)) +
               ", more than it asked for");
    } else if (flag("oom")) {
        is(State::failed, Reason::out_of_memory, "");
    } else if (flag("shutdown")) {
        is(State::failed, Reason::node_lost, "the node was shut down");
    } else if (signal > 0) {
        is(State::failed, Reason::killed_by_signal, name);
    } else {
        is(State::failed, Reason::exit_nonzero, "exit code " + std::to_string(event.exit_code));
    }
    return event;
}

}  // namespace crater::run
