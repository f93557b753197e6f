#include "binary_form.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <set>
#include <unordered_map>

#include "crater/base/ids.h"
#include "crater/codec/binary.h"

namespace crater::codec {
namespace {

constexpr std::uint32_t tag_mask = (1u << 22) - 1;

}  // namespace

Form form_of(const Type& type) {
    switch (type.kind) {
        case Kind::text:
        case Kind::enumeration:
        case Kind::custom:
        case Kind::custom_list:
        case Kind::structure:
        case Kind::list:
        case Kind::map: return sized;
        case Kind::real: return fixed;
        case Kind::optional: return form_of(*type.element);
        default: return varint;
    }
}

std::uint32_t key_of(std::string_view name, Form form) {
    return (static_cast<std::uint32_t>(hash64(name)) & tag_mask) << 2 | form;
}

std::string_view enum_name(const Type& type, std::int64_t value) {
    for (std::size_t i = 0, n = type.rows(); i < n; ++i)
        if (const EnumRow row = type.row(i); row.value == value) return row.name;
    return {};
}

bool is_empty(void* member, const Type& type) {
    switch (type.kind) {
        case Kind::text: return static_cast<const std::string*>(member)->empty();
        case Kind::boolean: return !*static_cast<const bool*>(member);
        case Kind::real: return std::bit_cast<std::uint64_t>(*static_cast<const double*>(member)) == 0;
        case Kind::enumeration: return enum_name(type, type.get(member)).empty();
        case Kind::custom: return type.to_text(member).empty();
        case Kind::custom_list: return type.to_list(member).empty();
        case Kind::optional:
        case Kind::list:
        case Kind::map: return type.size(member) == 0;
        case Kind::structure: return true;
        default: return type.get(member) == 0;
    }
}

namespace {

void fill(Layout& layout, const Type& type);

}  // namespace

Layout& layout_of(const Type& type) {
    thread_local std::unordered_map<const Type*, std::unique_ptr<Layout>> layouts;
    auto& slot = layouts[&type];
    if (slot == nullptr) {
        slot = std::make_unique<Layout>();
        fill(*slot, type);
    }
    return *slot;
}

namespace {

void fill(Layout& layout, const Type& type) {
    struct Context {
        Layout& layout;
        const Type& type;
    } context{layout, type};
    type.with_fresh(
        [](void* c, void* object) {
            const auto& to = *static_cast<Context*>(c);
            for (const bool reading : {false, true})
                for (const auto& info : FieldList(to.type, object, reading).fields) {
                    const auto known = [&](const Layout::Slot& slot) { return slot.name == info.name; };
                    if (std::any_of(to.layout.slots.begin(), to.layout.slots.end(), known)) continue;
                    const Type& inner = innermost(*info.type);
                    to.layout.slots.push_back({info.name, key_of(info.name, form_of(*info.type)),
                                               is_empty(const_cast<void*>(info.member), *info.type),
                                               inner.kind == Kind::structure ? &layout_of(inner) : nullptr});
                }
        },
        &context);
}

void collect_problems(const Type& type, const std::string& prefix, std::set<const Type*>& seen,
                      std::vector<std::string>& out) {
    if (!seen.insert(&type).second) return;
    const Layout& layout = layout_of(type);
    for (std::size_t i = 0; i < layout.slots.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if ((layout.slots[i].key ^ layout.slots[j].key) >> 2 == 0)
                out.push_back(prefix + std::string(layout.slots[i].name) + ": has the key of " +
                              std::string(layout.slots[j].name));
    struct Context {
        const Type& type;
        const std::string& prefix;
        std::set<const Type*>& seen;
        std::vector<std::string>& out;
    } context{type, prefix, seen, out};
    type.with_fresh(
        [](void* c, void* object) {
            const auto& to = *static_cast<Context*>(c);
            for (const auto& info : FieldList(to.type, object, true).fields) {
                const std::string path = to.prefix + std::string(info.name);
                if (info.type->kind == Kind::optional && info.type->size(info.member) > 0)
                    to.out.push_back(path + ": is optional and has a default");
                if (info.type->kind == Kind::structure) {
                    std::string here, alone;
                    detail::write_binary(here, info.member, *info.type);
                    struct Fresh {
                        std::string& out;
                        const Type& type;
                    } fresh{alone, *info.type};
                    info.type->with_fresh(
                        [](void* f, void* other) {
                            const auto& into = *static_cast<Fresh*>(f);
                            detail::write_binary(into.out, other, into.type);
                        },
                        &fresh);
                    if (here != alone) to.out.push_back(path + ": has other defaults here than by itself");
                }
                if (const Type& inner = innermost(*info.type); inner.kind == Kind::structure)
                    collect_problems(inner, path + ".", to.seen, to.out);
            }
        },
        &context);
}

}  // namespace

namespace detail {

std::vector<std::string> binary_problems(const Type& type) {
    std::vector<std::string> out;
    std::set<const Type*> seen;
    collect_problems(type, "", seen, out);
    return out;
}

}  // namespace detail
}  // namespace crater::codec
