#include "records.h"

#include <nlohmann/json.hpp>

#include "crater/api/views.h"
#include "crater/base/ids.h"
#include "crater/codec/binary.h"
#include "crater/codec/codec.h"
#include "crater/scheduler/stored_json.h"
#include "profiles.h"

namespace crater::scheduler {

namespace {

// What `append` writes, with no room to spare: a text that grows as it is written is allocated many times
// over.
template <class Append>
std::string written(Append append) {
    constexpr std::size_t kept_room = 1 << 20;
    thread_local std::string room;
    room.clear();
    append(room);
    std::string out(room);
    if (room.capacity() > kept_room) room = {};
    return out;
}

}  // namespace

template <class T>
std::string stored_value(const T& object) {
    return written([&](std::string& out) { codec::append_binary(out, object); });
}
template <class T>
Result<void> read_stored(std::string_view value, T& out) {
    if (codec::is_binary(value)) return codec::read_binary_into(out, value);
    CRATER_TRY(tree, codec::parse_json(value, value.size()));
    return codec::read_into(out, tree, {}, {.allow_unknown = true});
}
bool is_stored_form(std::string_view value) { return codec::is_binary(value); }
template <class T>
std::string stored_text(const T& object) {
    return written([&](std::string& out) { codec::append_json(out, object, {.reveal = true}); });
}

namespace {

template <class T>
Result<std::string> json_of(std::string_view value, bool reveal) {
    CRATER_TRY(object, stored_object<T>(value));
    return codec::write_json(object, {.reveal = reveal});
}

}  // namespace

// What lies under which keys, for those who look into a store.
Result<std::string> stored_json(std::string_view key, std::string_view value, bool reveal) {
    const auto below = [&](std::string_view prefix) { return key.starts_with(prefix); };
    if (below("job/"))
        return key.ends_with("/spec") ? json_of<StoredSpec>(value, reveal)
                                      : json_of<StoredStatus>(value, reveal);
    if (below("node/"))
        return key.ends_with("/state") ? json_of<StoredNodeState>(value, reveal)
                                       : json_of<NodeInventory>(value, reveal);
    if (below("queue/")) return json_of<StoredQueue>(value, reveal);
    if (below("tenant/")) return json_of<Tenant>(value, reveal);
    if (below("token/")) return json_of<Token>(value, reveal);
    if (below("idem/")) return json_of<StoredIdempotency>(value, reveal);
    if (below("outbox/") || below("dead/")) return json_of<StoredCallback>(value, reveal);
    if (below("profile/")) return json_of<StoredProfile>(value, reveal);
    if (key == "meta/settings") return json_of<engine::Settings>(value, reveal);
    if (!codec::is_binary(value)) return std::string(value);
    return fail(Code::invalid, "nothing is known of the key " + shown(key), "key");
}

// Written as values.
#define CRATER_STORED(T)                            \
    template std::string stored_value<T>(const T&); \
    template Result<void> read_stored<T>(std::string_view, T&);
CRATER_STORED(StoredSpec)
CRATER_STORED(StoredStatus)
CRATER_STORED(StoredNodeState)
CRATER_STORED(StoredQueue)
CRATER_STORED(StoredIdempotency)
CRATER_STORED(StoredCallback)
CRATER_STORED(StoredProfile)
CRATER_STORED(NodeInventory)
CRATER_STORED(Tenant)
CRATER_STORED(Token)
CRATER_STORED(engine::Settings)
#undef CRATER_STORED
template std::string stored_value<JobSpec>(const JobSpec&);

// Written as text.
#define CRATER_TEXT(T) template std::string stored_text<T>(const T&);
CRATER_TEXT(AuditRow)
CRATER_TEXT(JobSpec)
CRATER_TEXT(QueueSpec)
CRATER_TEXT(Tenant)
CRATER_TEXT(StateChange)
CRATER_TEXT(engine::DecisionTrace)
CRATER_TEXT(api::TaskView)
#undef CRATER_TEXT

// ---- jobs ----

namespace {

// What of a spec only the task itself needs: no decision and no list reads it.
constexpr std::string_view not_in_outline[] = {"name", "command", "working_dir", "env", "mounts", "output"};

struct Outlined {
    std::shared_ptr<const JobSpec> spec;
};
template <class V>
void describe(V& v, Outlined& o) {
    v.field("spec", o.spec, "What decides.");
}

constexpr std::string_view of_place[] = {"id",          "queue",     "tenant", "priority",
                                         "preemptible", "submitted", "kind"};

// `value`: of a StoredSpec.
Result<void> keep_packed(FixedJob& job, std::string_view value, Outlines& outlines) {
    CRATER_TRY(spec, codec::binary_part(value, "spec"));
    if (!spec) return fail(Code::invalid, "it is missing", "spec");
    CRATER_TRY(outline, outlines.of(*spec));
    job.outline = std::move(outline);
    CRATER_TRY(packed, codec::binary_without(value, of_place));
    job.packed = std::make_shared<const std::string>(packed.begin(), packed.end());  // with no room to spare
    return {};
}

std::string_view text_in(const FixedJob& job, std::initializer_list<std::string_view> path) {
    const auto text = codec::binary_text(*job.packed, path);
    CRATER_CHECK(text.has_value(), "what is kept of job " + job.id + " was read before");
    return *text;
}

}  // namespace

Outlines::Outlines() : pool_(std::make_unique<codec::SharedPool>()) {}
Outlines::~Outlines() = default;

Result<std::shared_ptr<const JobSpec>> Outlines::of(std::string_view packed) {
    CRATER_TRY(less, codec::binary_without(packed, not_in_outline));
    Outlined out;
    CRATER_TRY_VOID(codec::read_binary_into(
        out, codec::binary_with(codec::write_binary(Outlined{}), "spec", less), pool_.get()));
    return std::move(out.spec);
}

Result<JobSpec> FixedJob::spec() const {
    CRATER_TRY(part, codec::binary_part(*packed, "spec"));
    return codec::read_binary<JobSpec>(*part);
}
std::string_view FixedJob::name() const {
    const std::string_view said = text_in(*this, {"spec", "name"});
    return said.empty() ? std::string_view(id) : said;
}
std::string_view FixedJob::user() const { return text_in(*this, {"user"}); }
std::string_view FixedJob::task_id() const { return text_in(*this, {"task_id"}); }
std::string_view FixedJob::document_hash() const { return text_in(*this, {"document_hash"}); }
std::vector<std::string> FixedJob::notes() const {
    auto head = codec::read_binary<JobHead>(*packed);
    return head ? std::move(head->notes) : std::vector<std::string>{};
}

Result<void> keep_job(FixedJob& job, const StoredSpec& accepted, Outlines& outlines) {
    static_cast<JobPlace&>(job) = accepted;
    return keep_packed(job, codec::write_binary(accepted), outlines);
}

Result<void> read_stored_job(std::string_view value, FixedJob& out, Outlines& outlines) {
    if (!codec::is_binary(value)) {
        StoredSpec whole;
        CRATER_TRY_VOID(read_stored(value, whole));
        return keep_job(out, whole, outlines);
    }
    CRATER_TRY_VOID(codec::read_binary_into(static_cast<JobPlace&>(out), value));
    return keep_packed(out, value, outlines);
}

std::string stored_job(const FixedJob& job) {
    return codec::write_binary(static_cast<const JobPlace&>(job)) + job.packed->substr(1);
}

std::string padded(std::int64_t number) {
    const std::string digits = std::to_string(number);
    return std::string(digits.size() < 12 ? 12 - digits.size() : 0, '0') + digits;
}

State state_named(std::string_view name, State otherwise) {
    for (const auto& row : enum_names(State{}))
        if (row.name == name) return row.value;
    return otherwise;
}
Reason reason_named(std::string_view name) {
    for (const auto& row : enum_names(Reason{}))
        if (row.name == name) return row.value;
    return Reason::none;
}

}  // namespace crater::scheduler
