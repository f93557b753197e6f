// The fields of a described struct as a list, for those who need all of them at once.
#pragma once

#include <string_view>
#include <vector>

#include "crater/codec/type.h"

namespace crater::codec {

struct FieldInfo {
    std::string_view name;
    std::string_view help;
    FieldOptions options;
    const Type* type;
    const void* member;  // in the object that was visited
};

class FieldList final : public Visitor {
  public:
    FieldList(const Type& type, void* object, bool reading) : Visitor(reading) { type.visit(*this, object); }
    std::vector<FieldInfo> fields;

  protected:
    void on_field(std::string_view name, void* member, const Type& type, std::string_view help,
                  const FieldOptions& options) override {
        fields.push_back({name, help, options, &type, member});
    }
};

// Calls `use` with each word of an alias list.
template <class Use>
void each_alias(std::string_view aliases, Use use) {
    while (!aliases.empty()) {
        const auto end = std::min(aliases.find(' '), aliases.size());
        if (end > 0) use(aliases.substr(0, end));
        aliases.remove_prefix(std::min(end + 1, aliases.size()));
    }
}

// What a reader fills: the value that is there, or a fresh one; never one that others may share.
inline void* in_optional(void* object, const Type& type) {
    return type.owner == nullptr && type.size(object) > 0 ? type.at(object, 0) : type.append(object);
}

inline bool in_range_checked(const FieldOptions& options) { return options.minimum < options.maximum; }

}  // namespace crater::codec
