#include "crater/codec/binary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>

#include "crater/base/ids.h"
#include "fields.h"
#include "units.h"

namespace crater::codec {
namespace {

constexpr char version = 1;
constexpr int depth_max = 32;
constexpr std::uint32_t tag_mask = (1u << 22) - 1;

enum Form : std::uint32_t { varint = 0, fixed = 1, sized = 2 };

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

bool is_unsigned(const Type& type) { return type.kind == Kind::integer && type.lowest == 0; }

std::string_view enum_name(const Type& type, std::int64_t value) {
    for (std::size_t i = 0, n = type.rows(); i < n; ++i)
        if (const EnumRow row = type.row(i); row.value == value) return row.name;
    return {};
}

// Structs always count as empty here: whether they are is seen by what they write.
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

// The keys of a struct's fields, in the order of the description.
struct Layout {
    struct Slot {
        std::string_view name;
        std::uint32_t key = 0;
        bool may_be_absent = true;  // when it is empty
        Layout* child = nullptr;    // of the struct in it
    };
    std::vector<Slot> slots;

    // Usually the next one; else the description differs between in and out.
    const Slot& find(std::size_t& next, std::string_view name) const {
        if (next < slots.size() && slots[next].name.data() == name.data()) return slots[next++];
        for (std::size_t i = 0; i < slots.size(); ++i)
            if (slots[i].name == name) {
                next = i + 1;
                return slots[i];
            }
        CRATER_CHECK(false, "a field that was not described before: " + std::string(name));
    }
};

void fill(Layout& layout, const Type& type);

// Made once per thread and type.
Layout& layout_of(const Type& type) {
    thread_local std::unordered_map<const Type*, std::unique_ptr<Layout>> layouts;
    auto& slot = layouts[&type];
    if (slot == nullptr) {
        slot = std::make_unique<Layout>();
        fill(*slot, type);
    }
    return *slot;
}

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

// ---- writing ----

void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

std::uint64_t zigzag(std::int64_t value) {
    return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t bits) {
    return static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
}

void append_text(std::string& out, std::string_view text) {
    append_varint(out, text.size());
    out += text;
}

// Puts the length before what was written since `begin`.
void close(std::string& out, std::size_t begin) {
    std::string length;
    append_varint(length, out.size() - begin);
    out.insert(begin, length);
}

void put(std::string& out, void* object, const Type& type, Layout* layout);

class BinaryWriter final : public Visitor {
  public:
    BinaryWriter(std::string& out, const Layout& layout) : Visitor(false), out_(out), layout_(layout) {}

  protected:
    void on_field(std::string_view name, void* member, const Type& type, std::string_view, const FieldOptions&) override {
        const Layout::Slot& slot = layout_.find(next_, name);
        const bool structure = type.kind == Kind::structure;
        if (slot.may_be_absent && !structure && is_empty(member, type)) return;
        CRATER_CHECK(type.kind != Kind::optional || type.size(member) > 0, "an optional with a default cannot be kept absent");
        const std::size_t before = out_.size();
        for (const int shift : {0, 8, 16}) out_ += static_cast<char>(slot.key >> shift);
        put(out_, member, type, slot.child);
        if (structure && out_.size() == before + 4) out_.resize(before);  // nothing in it
    }

  private:
    std::string& out_;
    const Layout& layout_;
    std::size_t next_ = 0;
};

void put_sized(std::string& out, void* object, const Type& type, Layout* layout) {
    switch (type.kind) {
        case Kind::structure: {
            BinaryWriter writer(out, *layout);
            return type.visit(writer, object);
        }
        case Kind::custom_list:
            for (const auto& word : type.to_list(object)) append_text(out, word);
            return;
        case Kind::list:
            out += static_cast<char>(form_of(*type.element));
            append_varint(out, type.size(object));
            for (std::size_t i = 0, n = type.size(object); i < n; ++i) put(out, type.at(object, i), *type.element, layout);
            return;
        default: {
            out += static_cast<char>(form_of(*type.element));
            append_varint(out, type.size(object));
            struct Context {
                std::string& out;
                const Type& element;
                Layout* layout;
            } context{out, *type.element, layout};
            type.each(object, &context, [](void* c, const std::string& key, const void* value) {
                const auto& to = *static_cast<Context*>(c);
                append_text(to.out, key);
                put(to.out, const_cast<void*>(value), to.element, to.layout);
            });
        }
    }
}

void put(std::string& out, void* object, const Type& type, Layout* layout) {
    switch (type.kind) {
        case Kind::text: return append_text(out, *static_cast<const std::string*>(object));
        case Kind::enumeration: return append_text(out, enum_name(type, type.get(object)));
        case Kind::custom: return append_text(out, type.to_text(object));
        case Kind::boolean: return append_varint(out, *static_cast<const bool*>(object) ? 1 : 0);
        case Kind::real: {
            const auto bits = std::bit_cast<std::uint64_t>(*static_cast<const double*>(object));
            for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(bits >> shift);
            return;
        }
        case Kind::optional: return put(out, type.at(object, 0), *type.element, layout);
        case Kind::structure:
        case Kind::custom_list:
        case Kind::list:
        case Kind::map: {
            const std::size_t begin = out.size();
            put_sized(out, object, type, layout);
            return close(out, begin);
        }
        default: {
            const std::int64_t value = type.get(object);
            append_varint(out, is_unsigned(type) ? static_cast<std::uint64_t>(value) : zigzag(value));
        }
    }
}

}  // namespace

// ---- reading ----

// One field as it lies in the bytes.
struct Found {
    std::uint32_t key = 0;
    bool used = false;
    std::uint64_t bits = 0;  // of a number
    std::string_view bytes;
};

// Takes bytes off the front; after the first failure all is empty and `good` is false.
struct Input {
    std::string_view rest;
    bool good = true;

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            if (rest.empty()) break;
            const auto byte = static_cast<unsigned char>(rest.front());
            rest.remove_prefix(1);
            if (shift == 63 && byte > 1) break;
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        return stop();
    }
    std::uint64_t little_endian(std::size_t count) {
        if (rest.size() < count) return stop();
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < count; ++i) value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
        rest.remove_prefix(count);
        return value;
    }
    std::string_view text() {
        const std::uint64_t size = number();
        if (!good || rest.size() < size) return stop(), std::string_view();
        const std::string_view out = rest.substr(0, size);
        rest.remove_prefix(size);
        return out;
    }
    Found content(std::uint32_t form) {
        Found out;
        if (form == varint) out.bits = number();
        else if (form == fixed) out.bits = little_endian(8);
        else if (form == sized) out.bytes = text();
        else stop();
        return out;
    }
    std::uint64_t stop() {
        good = false;
        rest = {};
        return 0;
    }
};

class BinaryReader final : public Visitor {
  public:
    struct Run {
        SharedPool* pool = nullptr;
        bool failed = false;
        Error error;
    };
    // False: the run has failed, and its error is at the path below this object.
    static bool read(std::string_view bytes, void* object, const Type& type, Layout& layout, Run& run, int depth) {
        if (depth > depth_max) return refuse(run, "nested deeper than " + std::to_string(depth_max));
        BinaryReader reader(layout, run, depth);
        if (!reader.split(bytes)) return false;
        type.visit(reader, object);
        if (!run.failed && reader.used_ < reader.count_) reader.check_unused();
        return !run.failed;
    }

  protected:
    void on_field(std::string_view name, void* member, const Type& type, std::string_view, const FieldOptions& options) override {
        if (run_.failed) return;
        const Layout::Slot& slot = layout_.find(next_, name);
        Found* const found = take(slot.key);
        if (found == nullptr) return;
        if ((found->key & 3) != (slot.key & 3)) refuse(run_, "the stored field has another type");
        else if (get(*found, member, type, slot.child, options, run_, depth_)) return;
        std::string& field = run_.error.field;
        field = std::string(name) + (field.empty() || field.front() == '[' ? "" : ".") + field;
    }

  private:
    BinaryReader(Layout& layout, Run& run, int depth) : Visitor(true), layout_(layout), run_(run), depth_(depth) {}

    static bool refuse(Run& run, std::string message, std::string hint = {}) {
        run.failed = true;
        run.error = {Code::invalid, std::move(message), {}, std::move(hint)};
        return false;
    }
    static bool torn(Run& run) { return refuse(run, "the bytes end within a value or are none of ours"); }

    Found& at(std::size_t i) { return i < few_.size() ? few_[i] : many_[i - few_.size()]; }

    bool split(std::string_view bytes) {
        Input in{bytes};
        while (!in.rest.empty()) {
            const auto key = static_cast<std::uint32_t>(in.little_endian(3));
            Found found = in.content(key & 3);
            if (!in.good) return torn(run_);
            found.key = key;
            if (count_ >= few_.size()) many_.emplace_back();
            at(count_++) = found;
        }
        return true;
    }

    // Fields mostly lie in the order of the description.
    Found* take(std::uint32_t key) {
        for (std::size_t i = first_; i < count_; ++i) {
            Found& found = at(i);
            if (found.used || (found.key ^ key) >> 2 != 0) continue;
            found.used = true;
            ++used_;
            while (first_ < count_ && at(first_).used) ++first_;
            return &found;
        }
        return nullptr;
    }

    // What nothing describes any more is skipped; what is there twice is damage.
    void check_unused() {
        for (std::size_t i = first_; i < count_; ++i)
            for (const Layout::Slot& slot : layout_.slots)
                if (!at(i).used && (at(i).key ^ slot.key) >> 2 == 0) {
                    refuse(run_, "the field is there twice");
                    run_.error.field = slot.name;
                    return;
                }
    }

    static bool get(const Found& found, void* object, const Type& type, Layout* layout, const FieldOptions& options, Run& run, int depth) {
        switch (type.kind) {
            case Kind::text: static_cast<std::string*>(object)->assign(found.bytes); return true;
            case Kind::boolean:
                if (found.bits > 1) return refuse(run, "found " + std::to_string(found.bits) + "; allowed: 0, 1");
                *static_cast<bool*>(object) = found.bits == 1;
                return true;
            case Kind::real: {
                const auto value = std::bit_cast<double>(found.bits);
                if (!in_range(value, options)) return out_of_range(std::to_string(value), options, run);
                *static_cast<double*>(object) = value;
                return true;
            }
            case Kind::enumeration: return get_enum(found.bytes, object, type, run);
            case Kind::custom: return own(type.from_text(found.bytes, object), run);
            case Kind::custom_list: {
                std::vector<std::string> words;
                Input in{found.bytes};
                while (!in.rest.empty()) words.emplace_back(in.text());
                return in.good ? own(type.from_list(std::move(words), object), run) : torn(run);
            }
            case Kind::structure: return read(found.bytes, object, type, *layout, run, depth + 1);
            case Kind::optional:
                if (type.owner != nullptr && run.pool != nullptr && type.element->kind == Kind::structure)
                    return get_shared(found, object, type, layout, options, run, depth);
                return get(found, in_optional(object, type), *type.element, layout, options, run, depth);
            case Kind::list: return get_list(found.bytes, object, type, layout, options, run, depth);
            case Kind::map: return get_map(found.bytes, object, type, layout, options, run, depth);
            default: return get_number(found.bits, object, type, options, run);
        }
    }

    static bool in_range(double value, const FieldOptions& options) {
        return !in_range_checked(options) || (value >= options.minimum && value <= options.maximum);
    }
    static bool out_of_range(const std::string& value, const FieldOptions& options, Run& run) {
        return refuse(run, "found " + value + "; allowed: " + decimal_text(options.minimum) + " to " + decimal_text(options.maximum));
    }

    static bool get_number(std::uint64_t bits, void* object, const Type& type, const FieldOptions& options, Run& run) {
        const bool natural = is_unsigned(type);
        const std::int64_t value = natural ? static_cast<std::int64_t>(bits) : unzigzag(bits);
        const auto as_double = natural ? static_cast<double>(bits) : static_cast<double>(value);
        const auto text = [&] { return natural ? std::to_string(bits) : std::to_string(value); };
        if (type.kind == Kind::integer) {
            const bool fits = natural ? bits <= type.highest : value >= type.lowest && (value < 0 || static_cast<std::uint64_t>(value) <= type.highest);
            if (!fits) return refuse(run, "found " + text() + "; allowed: " + std::to_string(type.lowest) + " to " + std::to_string(type.highest));
        } else if (type.kind != Kind::instant && value < 0) {
            return refuse(run, "found " + text() + "; allowed: 0 or more");
        }
        if (!in_range(as_double, options)) return out_of_range(text(), options, run);
        type.set(object, value);
        return true;
    }

    static bool get_enum(std::string_view name, void* object, const Type& type, Run& run) {
        for (std::size_t i = 0, n = type.rows(); i < n; ++i)
            if (const EnumRow row = type.row(i); row.name == name) return type.set(object, row.value), true;
        std::vector<std::string> names;
        for (std::size_t i = 0, n = type.rows(); i < n; ++i) names.emplace_back(type.row(i).name);
        std::string allowed;
        for (const auto& known : names)
            if (!known.empty()) allowed += (allowed.empty() ? "" : ", ") + known;
        const std::string near = nearest(name, names);
        return refuse(run, "found " + shown(name) + "; allowed: " + allowed, near.empty() ? "" : "did you mean \"" + near + "\"?");
    }

    // An error of the type's own reader.
    static bool own(Result<void> result, Run& run) {
        if (result) return true;
        run.failed = true;
        run.error = std::move(result.error());
        return false;
    }

    // Equal bytes are equal objects. Those of another version may say the same in other bytes; they are just not shared.
    static bool get_shared(const Found& found, void* object, const Type& type, Layout* layout, const FieldOptions& options, Run& run, int depth) {
        const std::uint64_t hash = hash64(found.bytes);
        const auto [begin, end] = run.pool->by_hash_.equal_range(hash);
        for (auto it = begin; it != end; ++it) {
            if (it->second.type != type.element) continue;
            const std::shared_ptr<const void> known = it->second.object.lock();
            if (!known) continue;
            std::string bytes;
            BinaryWriter writer(bytes, *layout);
            type.element->visit(writer, const_cast<void*>(known.get()));
            if (bytes != found.bytes) continue;
            type.adopt(object, known);
            return true;
        }
        if (!get(found, type.append(object), *type.element, layout, options, run, depth)) return false;
        run.pool->add(hash, {type.element, type.owner(object)});
        return true;
    }

    static Found item(Input& in, std::uint32_t form) {
        Found out = in.content(form);
        out.key = 0;
        return out;
    }
    static void at_item(std::string_view where, Run& run) {
        std::string& field = run.error.field;
        field = "[" + std::string(where) + "]" + (field.empty() || field.front() == '[' ? "" : ".") + field;
    }
    // The head of a list or a map: false when its items have another form than ours.
    static bool items(Input& in, const Type& element, std::uint64_t& count, Run& run) {
        const std::uint64_t form = in.little_endian(1);
        count = in.number();
        if (!in.good || count > in.rest.size()) return torn(run);
        return form == form_of(element) || refuse(run, "the stored items have another type");
    }

    static bool get_list(std::string_view bytes, void* object, const Type& type, Layout* layout, const FieldOptions& options, Run& run, int depth) {
        Input in{bytes};
        std::uint64_t count = 0;
        if (!items(in, *type.element, count, run)) return false;
        type.clear(object);
        type.reserve(object, std::min<std::uint64_t>(count, 1024));
        for (std::uint64_t i = 0; i < count; ++i) {
            const Found found = item(in, form_of(*type.element));
            if (!in.good) return torn(run);
            if (get(found, type.append(object), *type.element, layout, options, run, depth)) continue;
            at_item(std::to_string(i), run);
            return false;
        }
        return in.rest.empty() || torn(run);
    }

    static bool get_map(std::string_view bytes, void* object, const Type& type, Layout* layout, const FieldOptions& options, Run& run, int depth) {
        Input in{bytes};
        std::uint64_t count = 0;
        if (!items(in, *type.element, count, run)) return false;
        type.clear(object);
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::string_view key = in.text();
            const Found found = item(in, form_of(*type.element));
            if (!in.good) return torn(run);
            if (get(found, type.insert(object, std::string(key)), *type.element, layout, options, run, depth)) continue;
            at_item(shown(key), run);
            return false;
        }
        return in.rest.empty() || torn(run);
    }

    Layout& layout_;
    Run& run_;
    const int depth_;
    std::size_t next_ = 0, count_ = 0, used_ = 0, first_ = 0;
    std::array<Found, 40> few_;
    std::vector<Found> many_;
};

std::size_t SharedPool::objects() const {
    return static_cast<std::size_t>(
        std::count_if(by_hash_.begin(), by_hash_.end(), [](const auto& entry) { return !entry.second.object.expired(); }));
}

void SharedPool::add(std::uint64_t hash, Known known) {
    if (by_hash_.size() >= sweep_at_) {
        std::erase_if(by_hash_, [](const auto& entry) { return entry.second.object.expired(); });
        sweep_at_ = std::max<std::size_t>(64, 2 * by_hash_.size());
    }
    by_hash_.emplace(hash, std::move(known));
}

bool is_binary(std::string_view bytes) { return !bytes.empty() && static_cast<unsigned char>(bytes.front()) < 0x20; }

// ---- parts ----

namespace {

Error no_value() { return {Code::invalid, "the bytes end within a value or are none of ours", {}, {}}; }

Result<std::string_view> fields_of(std::string_view value) {
    if (value.empty() || value.front() != version) return fail(no_value());
    return value.substr(1);
}

// Hands out each field: its key, its content, and all its bytes.
template <class Use>
Result<void> each_field(std::string_view fields, Use use) {
    Input in{fields};
    while (!in.rest.empty()) {
        const std::string_view before = in.rest;
        const auto key = static_cast<std::uint32_t>(in.little_endian(3));
        const Found found = in.content(key & 3);
        if (!in.good) return fail(no_value());
        use(key, found.bytes, before.substr(0, before.size() - in.rest.size()));
    }
    return {};
}

}  // namespace

Result<std::string_view> binary_text(std::string_view value, std::initializer_list<std::string_view> path) {
    CRATER_TRY(out, fields_of(value));
    for (const auto name : path) {
        std::string_view found;
        CRATER_TRY_VOID(each_field(out, [&, wanted = key_of(name, sized)](std::uint32_t key, std::string_view content, std::string_view) {
            if (key == wanted) found = content;
        }));
        out = found;
    }
    return out;
}

Result<std::optional<std::string>> binary_part(std::string_view value, std::string_view name) {
    std::optional<std::string> out;
    CRATER_TRY(fields, fields_of(value));
    CRATER_TRY_VOID(each_field(fields, [&, wanted = key_of(name, sized)](std::uint32_t key, std::string_view content, std::string_view) {
        if (key != wanted) return;
        out.emplace().reserve(content.size() + 1);
        *out += version;
        *out += content;
    }));
    return out;
}

Result<std::string> binary_without(std::string_view value, std::span<const std::string_view> names) {
    std::vector<std::uint32_t> unwanted;
    for (const auto name : names) unwanted.push_back(key_of(name, sized) >> 2);
    std::string out;
    out.reserve(value.size());
    out += version;
    CRATER_TRY(fields, fields_of(value));
    CRATER_TRY_VOID(each_field(fields, [&](std::uint32_t key, std::string_view, std::string_view bytes) {
        if (std::find(unwanted.begin(), unwanted.end(), key >> 2) == unwanted.end()) out += bytes;
    }));
    return out;
}

std::string binary_with(std::string value, std::string_view name, std::string_view part) {
    const std::uint32_t key = key_of(name, sized);
    for (const int shift : {0, 8, 16}) value += static_cast<char>(key >> shift);
    append_text(value, part.substr(1));
    return value;
}

namespace {

void collect_problems(const Type& type, const std::string& prefix, std::set<const Type*>& seen, std::vector<std::string>& out) {
    if (!seen.insert(&type).second) return;
    const Layout& layout = layout_of(type);
    for (std::size_t i = 0; i < layout.slots.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if ((layout.slots[i].key ^ layout.slots[j].key) >> 2 == 0)
                out.push_back(prefix + std::string(layout.slots[i].name) + ": has the key of " + std::string(layout.slots[j].name));
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
                if (info.type->kind == Kind::optional && info.type->size(info.member) > 0) to.out.push_back(path + ": is optional and has a default");
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
                if (const Type& inner = innermost(*info.type); inner.kind == Kind::structure) collect_problems(inner, path + ".", to.seen, to.out);
            }
        },
        &context);
}

}  // namespace

namespace detail {

void write_binary(std::string& out, const void* object, const Type& type) {
    out += version;
    BinaryWriter writer(out, layout_of(type));
    type.visit(writer, const_cast<void*>(object));
}

Result<void> read_binary(std::string_view bytes, void* object, const Type& type, SharedPool* pool) {
    if (bytes.empty()) return fail(Code::invalid, "the value is empty");
    if (bytes.front() != version)
        return fail(Code::invalid, "the value has form " + std::to_string(static_cast<unsigned char>(bytes.front())) + "; this program reads form 1", {},
                    is_binary(bytes) ? "use the version of Crater that wrote it" : "");
    BinaryReader::Run run{.pool = pool, .failed = false, .error = {}};
    if (BinaryReader::read(bytes.substr(1), object, type, layout_of(type), run, 0)) return {};
    return fail(std::move(run.error));
}

std::vector<std::string> binary_problems(const Type& type) {
    std::vector<std::string> out;
    std::set<const Type*> seen;
    collect_problems(type, "", seen, out);
    return out;
}

}  // namespace detail
}  // namespace crater::codec
