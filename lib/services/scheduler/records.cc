#include "records.h"

#include "crater/api/views.h"
#include "crater/codec/codec.h"

namespace crater::scheduler {

template <class T>
std::string stored_text(const T& object) {
    return codec::write_json(object, {.reveal = true});
}
template <class T>
Result<T> stored_object(std::string_view text) {
    return codec::read_json<T>(text, {.allow_unknown = true});
}

#define CRATER_STORED(T)                              \
    template std::string stored_text<T>(const T&);    \
    template Result<T> stored_object<T>(std::string_view);
CRATER_STORED(StoredSpec)
CRATER_STORED(StoredStatus)
CRATER_STORED(StoredNodeState)
CRATER_STORED(StoredQueue)
CRATER_STORED(StoredIdempotency)
CRATER_STORED(StoredCallback)
CRATER_STORED(AuditRow)
CRATER_STORED(NodeInventory)
CRATER_STORED(JobSpec)
CRATER_STORED(QueueSpec)
CRATER_STORED(Tenant)
CRATER_STORED(Token)
CRATER_STORED(StateChange)
CRATER_STORED(engine::DecisionTrace)
CRATER_STORED(engine::Settings)
CRATER_STORED(api::TaskView)
#undef CRATER_STORED

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
