#include "records.h"

#include <nlohmann/json.hpp>

#include "crater/api/views.h"
#include "crater/base/ids.h"
#include "crater/codec/binary.h"
#include "crater/codec/codec.h"
#include "crater/scheduler/stored_json.h"

namespace crater::scheduler {

template <class T>
std::string stored_value(const T& object) {
    return codec::write_binary(object);
}
template <class T>
Result<void> read_stored(std::string_view value, T& out) {
    if (codec::is_binary(value)) return codec::read_binary_into(out, value);
    CRATER_TRY(tree, codec::parse_json(value, value.size()));
    return codec::read_into(out, tree, {}, {.allow_unknown = true});
}
template <class T>
std::string stored_text(const T& object) {
    return codec::write_json(object, {.reveal = true});
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
    if (below("job/")) return key.ends_with("/spec") ? json_of<StoredSpec>(value, reveal) : json_of<StoredStatus>(value, reveal);
    if (below("node/")) return key.ends_with("/state") ? json_of<StoredNodeState>(value, reveal) : json_of<NodeInventory>(value, reveal);
    if (below("queue/")) return json_of<StoredQueue>(value, reveal);
    if (below("tenant/")) return json_of<Tenant>(value, reveal);
    if (below("token/")) return json_of<Token>(value, reveal);
    if (below("idem/")) return json_of<StoredIdempotency>(value, reveal);
    if (below("outbox/") || below("dead/")) return json_of<StoredCallback>(value, reveal);
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

Result<void> keep_packed(FixedJob& job, std::string packed, Outlines& outlines) {
    CRATER_TRY(outline, outlines.of(packed));
    job.outline = std::move(outline);
    job.packed = std::make_shared<const std::string>(std::move(packed));
    return {};
}

}  // namespace

Outlines::Outlines() : pool_(std::make_unique<codec::SharedPool>()) {}
Outlines::~Outlines() = default;

Result<std::shared_ptr<const JobSpec>> Outlines::of(std::string_view packed) {
    CRATER_TRY(less, codec::binary_without(packed, not_in_outline));
    Outlined out;
    CRATER_TRY_VOID(codec::read_binary_into(out, codec::binary_with(codec::write_binary(Outlined{}), "spec", less), pool_.get()));
    return std::move(out.spec);
}

Result<JobSpec> FixedJob::spec() const { return codec::read_binary<JobSpec>(*packed); }

std::string_view FixedJob::name() const {
    const auto said = codec::binary_text(*packed, "name");
    return said && !said->empty() ? *said : std::string_view(id);
}

Result<void> keep_spec(FixedJob& job, const JobSpec& spec, Outlines& outlines) { return keep_packed(job, codec::write_binary(spec), outlines); }

Result<void> read_stored_job(std::string_view value, FixedJob& out, Outlines& outlines) {
    if (!codec::is_binary(value)) {
        StoredSpec whole;
        CRATER_TRY_VOID(read_stored(value, whole));
        static_cast<JobHead&>(out) = whole;
        return keep_spec(out, whole.spec, outlines);
    }
    CRATER_TRY_VOID(codec::read_binary_into(static_cast<JobHead&>(out), value));
    CRATER_TRY(packed, codec::binary_part(value, "spec"));
    if (!packed) return fail(Code::invalid, "it is missing", "spec");
    return keep_packed(out, std::move(*packed), outlines);
}

std::string stored_job(const FixedJob& job) {
    return codec::binary_with(codec::write_binary(static_cast<const JobHead&>(job)), "spec", *job.packed);
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
