#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "fields.h"
#include "units.h"

namespace crater::codec {
namespace {

// Where we are, as a chain on the stack; becomes text only for an error.
struct Path {
    const Path* up = nullptr;
    std::string_view name;
    std::int64_t index = -1;
    std::string_view unit_name = name;  // the key that tells the unit: for items that of their list or map

    std::string text() const {
        std::string out = up != nullptr ? up->text() : std::string();
        if (index >= 0) return out + "[" + std::to_string(index) + "]";
        if (!out.empty() && !name.empty()) out += '.';
        return out.append(name);
    }
};

std::string found(const Json& tree) {
    switch (tree.type()) {
        case Json::value_t::object: return "an object";
        case Json::value_t::array: return "a list";
        case Json::value_t::string: return shown(tree.get_ref<const std::string&>());
        default: return tree.dump();
    }
}

tl::unexpected<Error> refuse(const Path& path, std::string message, std::string hint = {}) {
    return fail(Code::invalid, std::move(message), path.text(), std::move(hint));
}
tl::unexpected<Error> wrong_type(const Path& path, const Json& tree, std::string_view allowed,
                                 std::string hint = {}) {
    return refuse(path, fmt::format("found {}; allowed: {}", found(tree), allowed), std::move(hint));
}
std::string did_you_mean(const std::string& near) {
    return near.empty() ? "" : "did you mean \"" + near + "\"?";
}

std::string number_text(const Json& tree) {
    return tree.is_number_float() ? decimal_text(tree.get<double>()) : tree.dump();
}

Result<void> check_range(double value, const Json& tree, const FieldOptions& options, const Path& path) {
    if (in_range_checked(options) && !(value >= options.minimum && value <= options.maximum))
        return refuse(
            path, fmt::format("found {}; allowed: {} to {}", found(tree), options.minimum, options.maximum));
    return {};
}

Result<void> read_integer(const Json& tree, void* object, const Type& type, const FieldOptions& options,
                          const Path& path) {
    constexpr std::string_view allowed = "a whole number";
    std::int64_t value = 0;
    bool fits = false;
    if (tree.is_number_unsigned()) {
        const auto number = tree.get<std::uint64_t>();
        fits = number <= type.highest;
        value = static_cast<std::int64_t>(number);
    } else if (tree.is_number_integer()) {
        value = tree.get<std::int64_t>();
        fits = value >= type.lowest && (value < 0 || static_cast<std::uint64_t>(value) <= type.highest);
    } else if (tree.is_number_float()) {
        constexpr double exact = 9007199254740992;  // beyond 2^53 not every whole number is a double
        const double number = tree.get<double>();
        if (number != std::floor(number) || std::abs(number) > exact) return wrong_type(path, tree, allowed);
        value = static_cast<std::int64_t>(number);
        fits = value >= type.lowest && (value < 0 || static_cast<std::uint64_t>(value) <= type.highest);
    } else {
        return wrong_type(path, tree, allowed);
    }
    if (!fits)
        return refuse(path,
                      fmt::format("found {}; allowed: {} to {}", found(tree), type.lowest, type.highest));
    const double as_double = value < 0 || type.lowest < 0
                                 ? static_cast<double>(value)
                                 : static_cast<double>(static_cast<std::uint64_t>(value));
    CRATER_TRY_VOID(check_range(as_double, tree, options, path));
    type.set(object, value);
    return {};
}

Result<void> read_amount(const Json& tree, void* object, const Type& type, const FieldOptions& options,
                         const Path& path) {
    const Kind kind = type.kind;
    const Unit* unit = unit_in(kind, path.unit_name);
    Result<std::int64_t> value = 0;
    if (unit != nullptr && kind == Kind::instant) {
        if (!tree.is_number_integer())
            return wrong_type(path, tree, fmt::format("a whole number of {}", unit->label));
        value = tree.get<std::int64_t>();
    } else if (unit != nullptr) {
        if (!tree.is_number())
            return wrong_type(
                path, tree, fmt::format("a number of {}", unit->label),
                "leave the unit to the key, or write it behind the number under the key without it");
        const std::string text = number_text(tree);
        if (text.starts_with('-'))
            return refuse(path, fmt::format("found {}; allowed: 0 {} or more", text, unit->label));
        value = parse_amount(kind, text + std::string(unit->text));
    } else if (kind == Kind::instant && tree.is_string() && tree.get_ref<const std::string&>().empty()) {
        value = 0;
    } else if (tree.is_string()) {
        value = parse_amount(kind, tree.get_ref<const std::string&>());
    } else if (tree.is_number() && kind != Kind::instant) {
        const std::string text = number_text(tree);
        if (text.starts_with('-')) return refuse(path, fmt::format("found {}; allowed: 0 or more", text));
        const double thousandths = tree.get<double>() * 1000;
        if (tree.is_number_float() && (kind == Kind::milli_cpu || kind == Kind::milli_gpu) &&
            thousandths < 1e15 && std::abs(thousandths - std::round(thousandths)) < 1e-6) {
            value = std::llround(thousandths);  // 0.1 + 0.2 is 0.3
        } else {
            value = parse_amount(kind, text);
        }
    } else {
        constexpr std::string_view examples[] = {"as \"40Gi\"",
                                                 "as \"16Gi\"",
                                                 "as 8, 0.5 or \"500m\"",
                                                 "as 4, 0.5 or \"500m\"",
                                                 "as \"140GB/s\"",
                                                 "as 20000",
                                                 "as 150",
                                                 "as \"30s\"",
                                                 "as \"2024-05-20T10:00:00Z\""};
        constexpr std::string_view names[] = {"an amount of memory or disk",
                                              "an amount of GPU memory",
                                              "a number of cores",
                                              "a number of cards",
                                              "a bandwidth",
                                              "a number of operations per second",
                                              "a latency in µs",
                                              "a span of time",
                                              "a point in time"};
        const auto row = static_cast<std::size_t>(kind) - static_cast<std::size_t>(Kind::bytes);
        return wrong_type(path, tree, fmt::format("{}, {}", names[row], examples[row]));
    }
    if (!value) {
        value.error().field = path.text();
        return fail(std::move(value.error()));
    }
    CRATER_TRY_VOID(check_range(static_cast<double>(*value), tree, options, path));
    type.set(object, *value);
    return {};
}

std::string folded(std::string_view name) {
    std::string out(name);
    for (char& c : out)
        if (c == '-') c = '_';
    return out;
}

Result<void> read_enumeration(const Json& tree, void* object, const Type& type, const Path& path) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < type.rows(); ++i)
        if (const auto name = type.row(i).name; !name.empty()) names.emplace_back(name);
    const std::string allowed = fmt::format("{}", fmt::join(names, ", "));
    if (!tree.is_string()) return wrong_type(path, tree, allowed);
    const auto& text = tree.get_ref<const std::string&>();
    for (const bool exactly : {true, false}) {
        for (std::size_t i = 0; i < type.rows(); ++i) {
            const EnumRow row = type.row(i);
            if (exactly ? row.name != text : folded(row.name) != folded(text)) continue;
            type.set(object, row.value);
            return {};
        }
    }
    return wrong_type(path, tree, allowed, did_you_mean(nearest(text, names)));
}

// An error of the type's own reader gets our path.
Result<void> at_path(Result<void> result, const Path& path) {
    if (result) return {};
    Error& error = result.error();
    const std::string here = path.text();
    error.field = error.field.empty() || here.empty() ? here + error.field : here + "." + error.field;
    return fail(std::move(error));
}

Result<void> read_value(const Json& tree, void* object, const Type& type, const FieldOptions& options,
                        const Path& path, ReadOptions how);

// Reads one object: finds each field's key in any spelling, and what is left over at the end is unknown.
class ObjectReader final : public Visitor {
  public:
    ObjectReader(const Type& type, void* object, const Path& path, ReadOptions how)
        : Visitor(true), type_(type), object_(object), path_(path), how_(how) {}

    Result<void> read(const Json& tree) {
        entries_.reserve(tree.size());
        for (auto it = tree.begin(); it != tree.end(); ++it)
            entries_.push_back({snake_case(it.key()), &it.key(), &*it});
        std::stable_sort(entries_.begin(), entries_.end(),
                         [](const Entry& a, const Entry& b) { return a.key < b.key; });
        for (std::size_t i = 1; i < entries_.size(); ++i)
            if (entries_[i].key == entries_[i - 1].key)
                return refuse({&path_, entries_[i].key},
                              fmt::format("{} and {} are the same key", shown(*entries_[i - 1].original),
                                          shown(*entries_[i].original)),
                              "give it once");
        type_.visit(*this, object_);
        if (!how_.allow_unknown)
            for (const auto& entry : entries_)
                if (!entry.used) return unknown(*entry.original, entry.key);
        return std::move(result_);
    }

  protected:
    void on_field(std::string_view name, void* member, const Type& type, std::string_view help,
                  const FieldOptions& options) override {
        Entry* entry = nullptr;
        const Type& inner = type.kind == Kind::optional ? *type.element : type;
        take(name, name, inner.kind, entry);
        each_alias(options.alias, [&](std::string_view alias) { take(alias, name, inner.kind, entry); });
        if (!result_) return;
        if (entry == nullptr || entry->value->is_null()) {
            if (options.required) result_ = refuse({&path_, name}, fmt::format("is required: {}", help));
            return;
        }
        const Path path{&path_, entry->key};
        if (auto read = read_value(*entry->value, member, type, options, path, how_); !read)
            result_ = std::move(read);
    }

  private:
    struct Entry {
        std::string key;
        const std::string* original;
        const Json* value;
        bool used = false;
    };

    // Marks the entries that `base` answers to and keeps the one; a second one is an error.
    void take(std::string_view base, std::string_view field, Kind kind, Entry*& entry) {
        const auto use = [&](Entry& next) {
            if (next.used) return;
            next.used = true;
            if (next.value->is_null() && entry != nullptr) return;
            if (entry != nullptr && !entry->value->is_null()) {
                if (result_)
                    result_ = refuse({&path_, next.key},
                                     fmt::format("{} and {} are the same field", shown(*entry->original),
                                                 shown(*next.original)),
                                     "give it once");
                return;
            }
            entry = &next;
        };
        const bool units = !units_of(kind).empty() && unit_in(kind, base) == nullptr;
        const std::string_view stem =
            base.ends_with("_min") || base.ends_with("_max") ? base.substr(0, base.size() - 4) : base;
        auto it = std::lower_bound(entries_.begin(), entries_.end(), stem,
                                   [](const Entry& e, std::string_view key) { return e.key < key; });
        for (; it != entries_.end() && it->key.starts_with(stem); ++it)
            if (it->key == base ||
                (units && is_unit_spelling(kind, base, it->key) && !is_name_of_another(it->key, field)))
                use(*it);
    }

    const std::vector<FieldInfo>& fields() {
        if (!fields_) fields_ = FieldList(type_, object_, true).fields;
        return *fields_;
    }
    bool is_name_of_another(std::string_view key, std::string_view field) {
        for (const auto& info : fields()) {
            if (info.name == field) continue;
            bool match = info.name == key;
            each_alias(info.options.alias, [&](std::string_view alias) { match = match || alias == key; });
            if (match) return true;
        }
        return false;
    }

    tl::unexpected<Error> unknown(const std::string& original, const std::string& key) {
        std::string allowed;
        std::vector<std::string> candidates;
        for (const auto& info : fields()) {
            allowed += (allowed.empty() ? "" : ", ") + std::string(info.name);
            const Kind kind = info.type->kind == Kind::optional ? info.type->element->kind : info.type->kind;
            const auto add = [&](std::string_view name) {
                candidates.emplace_back(name);
                if (unit_in(kind, name) != nullptr) return;
                for (const auto& unit : units_of(kind))
                    if (kind != Kind::instant) candidates.push_back(fmt::format("{}_{}", name, unit.suffix));
            };
            add(info.name);
            each_alias(info.options.alias, add);
        }
        return refuse({&path_, original},
                      fmt::format("unknown key {}; allowed: {}", shown(original), allowed),
                      did_you_mean(nearest(key, candidates)));
    }

    const Type& type_;
    void* object_;
    const Path& path_;
    ReadOptions how_;
    std::vector<Entry> entries_;
    std::optional<std::vector<FieldInfo>> fields_;
    Result<void> result_;
};

Result<void> read_structure(const Json& tree, void* object, const Type& type, const Path& path,
                            ReadOptions how) {
    if (!tree.is_object()) {
        std::string keys;
        for (const auto& info : FieldList(type, object, true).fields)
            keys += (keys.empty() ? "" : ", ") + std::string(info.name);
        return wrong_type(path, tree, "an object with the keys " + keys);
    }
    return ObjectReader(type, object, path, how).read(tree);
}

Result<void> read_list(const Json& tree, void* object, const Type& type, const FieldOptions& options,
                       const Path& path, ReadOptions how) {
    const Type& element = *type.element;
    if (!tree.is_array()) {
        const bool nested =
            element.kind == Kind::list || element.kind == Kind::map || element.kind == Kind::custom_list;
        if (nested || tree.is_object() || element.kind == Kind::structure)
            return wrong_type(path, tree, "a list", tree.is_object() ? "put it into a list: [ {...} ]" : "");
        type.clear(object);
        return read_value(tree, type.append(object), element, options, path, how);
    }
    type.clear(object);
    for (std::size_t i = 0; i < tree.size(); ++i) {
        const Path item{&path, {}, static_cast<std::int64_t>(i), path.unit_name};
        if (tree[i].is_null()) return wrong_type(item, tree[i], "a value");
        CRATER_TRY_VOID(read_value(tree[i], type.append(object), element, options, item, how));
    }
    return {};
}

Result<void> read_map(const Json& tree, void* object, const Type& type, const FieldOptions& options,
                      const Path& path, ReadOptions how) {
    if (!tree.is_object()) return wrong_type(path, tree, "an object of names and values");
    type.clear(object);
    for (auto it = tree.begin(); it != tree.end(); ++it) {
        const Path item{&path, it.key(), -1, path.unit_name};
        if (it->is_null()) return wrong_type(item, *it, "a value");
        CRATER_TRY_VOID(read_value(*it, type.insert(object, it.key()), *type.element, options, item, how));
    }
    return {};
}

Result<void> read_custom_list(const Json& tree, void* object, const Type& type, const Path& path) {
    std::vector<std::string> words;
    if (tree.is_string() && type.from_text != nullptr)
        return at_path(type.from_text(tree.get_ref<const std::string&>(), object), path);
    if (tree.is_string()) {
        words.push_back(tree.get<std::string>());
    } else if (!tree.is_array()) {
        return wrong_type(path, tree,
                          type.from_text != nullptr ? "a list of texts, or a text" : "a list of texts");
    } else {
        for (std::size_t i = 0; i < tree.size(); ++i) {
            if (!tree[i].is_string())
                return wrong_type(
                    {&path, {}, static_cast<std::int64_t>(i)}, tree[i], "a text",
                    tree[i].is_primitive() ? "put it in quotes: \"" + tree[i].dump() + "\"" : "");
            words.push_back(tree[i].get<std::string>());
        }
    }
    return at_path(type.from_list(std::move(words), object), path);
}

Result<void> read_value(const Json& tree, void* object, const Type& type, const FieldOptions& options,
                        const Path& path, ReadOptions how) {
    switch (type.kind) {
        case Kind::text:
            if (!tree.is_string())
                return wrong_type(path, tree, "a text",
                                  tree.is_primitive() && !tree.is_null()
                                      ? "put it in quotes: \"" + tree.dump() + "\""
                                      : "");
            *static_cast<std::string*>(object) = tree.get_ref<const std::string&>();
            return {};
        case Kind::boolean:
            if (!tree.is_boolean()) return wrong_type(path, tree, "true or false");
            *static_cast<bool*>(object) = tree.get<bool>();
            return {};
        case Kind::integer: return read_integer(tree, object, type, options, path);
        case Kind::real: {
            if (!tree.is_number()) return wrong_type(path, tree, "a number");
            const auto value = tree.get<double>();
            if (!std::isfinite(value)) return refuse(path, "the number is not finite");
            CRATER_TRY_VOID(check_range(value, tree, options, path));
            *static_cast<double*>(object) = value;
            return {};
        }
        case Kind::enumeration: return read_enumeration(tree, object, type, path);
        case Kind::custom:
            if (tree.is_string())
                return at_path(type.from_text(tree.get_ref<const std::string&>(), object), path);
            if (tree.is_number()) return at_path(type.from_text(number_text(tree), object), path);
            return wrong_type(path, tree, "a text or a number");
        case Kind::custom_list: return read_custom_list(tree, object, type, path);
        case Kind::structure: return read_structure(tree, object, type, path, how);
        case Kind::optional:
            return read_value(tree, in_optional(object, type), *type.element, options, path, how);
        case Kind::list: return read_list(tree, object, type, options, path, how);
        case Kind::map: return read_map(tree, object, type, options, path, how);
        default: return read_amount(tree, object, type, options, path);
    }
}

}  // namespace

namespace detail {

Result<void> read(const Json& tree, void* object, const Type& type, std::string_view path,
                  ReadOptions options) {
    return read_value(tree, object, type, {}, Path{nullptr, path}, options);
}

Result<void> read_text(std::string_view text, bool yaml, void* object, const Type& type,
                       ReadOptions options) {
    CRATER_TRY(tree, yaml ? parse_yaml(text) : parse_json(text));
    return read(tree, object, type, {}, options);
}

}  // namespace detail
}  // namespace crater::codec
