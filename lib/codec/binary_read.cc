#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "binary_form.h"
#include "crater/base/ids.h"
#include "crater/codec/binary.h"
#include "units.h"

namespace crater::codec {

class BinaryReader final : public Visitor {
  public:
    struct Run {
        SharedPool* pool = nullptr;
        bool failed = false;
        Error error;
    };
    // False: the run has failed, and its error is at the path below this object.
    static bool read(std::string_view bytes, void* object, const Type& type, Layout& layout, Run& run,
                     int depth) {
        if (depth > depth_max) return refuse(run, "nested deeper than " + std::to_string(depth_max));
        BinaryReader reader(layout, run, depth);
        if (!reader.split(bytes)) return false;
        type.visit(reader, object);
        if (!run.failed && reader.used_ < reader.count_) reader.check_unused();
        return !run.failed;
    }

  protected:
    void on_field(std::string_view name, void* member, const Type& type, std::string_view,
                  const FieldOptions& options) override {
        if (run_.failed) return;
        const Layout::Slot& slot = layout_.find(next_, name);
        Found* const found = take(slot.key);
        if (found == nullptr) return;
        if ((found->key & 3) != (slot.key & 3))
            refuse(run_, "the stored field has another type");
        else if (get(*found, member, type, slot.child, options, run_, depth_))
            return;
        std::string& field = run_.error.field;
        field = std::string(name) + (field.empty() || field.front() == '[' ? "" : ".") + field;
    }

  private:
    BinaryReader(Layout& layout, Run& run, int depth)
        : Visitor(true), layout_(layout), run_(run), depth_(depth) {}

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

    static bool get(const Found& found, void* object, const Type& type, Layout* layout,
                    const FieldOptions& options, Run& run, int depth) {
        switch (type.kind) {
            case Kind::text: static_cast<std::string*>(object)->assign(found.bytes); return true;
            case Kind::boolean:
                if (found.bits > 1)
                    return refuse(run, "found " + std::to_string(found.bits) + "; allowed: 0, 1");
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
        return refuse(run, "found " + value + "; allowed: " + decimal_text(options.minimum) + " to " +
                               decimal_text(options.maximum));
    }

    static bool get_number(std::uint64_t bits, void* object, const Type& type, const FieldOptions& options,
                           Run& run) {
        const bool natural = is_unsigned(type);
        const std::int64_t value = natural ? static_cast<std::int64_t>(bits) : unzigzag(bits);
        const auto as_double = natural ? static_cast<double>(bits) : static_cast<double>(value);
        const auto text = [&] { return natural ? std::to_string(bits) : std::to_string(value); };
        if (type.kind == Kind::integer) {
            const bool fits = natural ? bits <= type.highest
                                      : value >= type.lowest &&
                                            (value < 0 || static_cast<std::uint64_t>(value) <= type.highest);
            if (!fits)
                return refuse(run, "found " + text() + "; allowed: " + std::to_string(type.lowest) + " to " +
                                       std::to_string(type.highest));
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
        return refuse(run, "found " + shown(name) + "; allowed: " + allowed,
                      near.empty() ? "" : "did you mean \"" + near + "\"?");
    }

    // An error of the type's own reader.
    static bool own(Result<void> result, Run& run) {
        if (result) return true;
        run.failed = true;
        run.error = std::move(result.error());
        return false;
    }

    // Equal bytes are equal objects. Those of another version may say the same in other bytes; they are just
    // not shared.
    static bool get_shared(const Found& found, void* object, const Type& type, Layout* layout,
                           const FieldOptions& options, Run& run, int depth) {
        const std::uint64_t hash = hash64(found.bytes);
        const auto [begin, end] = run.pool->by_hash_.equal_range(hash);
        for (auto it = begin; it != end; ++it) {
            if (it->second.type != type.element) continue;
            const std::shared_ptr<const void> known = it->second.object.lock();
            if (!known) continue;
            std::string bytes;
            write_fields(bytes, known.get(), *type.element, *layout);
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

    static bool get_list(std::string_view bytes, void* object, const Type& type, Layout* layout,
                         const FieldOptions& options, Run& run, int depth) {
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

    static bool get_map(std::string_view bytes, void* object, const Type& type, Layout* layout,
                        const FieldOptions& options, Run& run, int depth) {
        Input in{bytes};
        std::uint64_t count = 0;
        if (!items(in, *type.element, count, run)) return false;
        type.clear(object);
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::string_view key = in.text();
            const Found found = item(in, form_of(*type.element));
            if (!in.good) return torn(run);
            if (get(found, type.insert(object, std::string(key)), *type.element, layout, options, run, depth))
                continue;
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
    return static_cast<std::size_t>(std::count_if(
        by_hash_.begin(), by_hash_.end(), [](const auto& entry) { return !entry.second.object.expired(); }));
}

void SharedPool::add(std::uint64_t hash, Known known) {
    if (by_hash_.size() >= sweep_at_) {
        std::erase_if(by_hash_, [](const auto& entry) { return entry.second.object.expired(); });
        sweep_at_ = std::max<std::size_t>(64, 2 * by_hash_.size());
    }
    by_hash_.emplace(hash, std::move(known));
}

bool is_binary(std::string_view bytes) {
    return !bytes.empty() && static_cast<unsigned char>(bytes.front()) < 0x20;
}

namespace detail {

Result<void> read_binary(std::string_view bytes, void* object, const Type& type, SharedPool* pool) {
    if (bytes.empty()) return fail(Code::invalid, "the value is empty");
    if (bytes.front() != version)
        return fail(Code::invalid,
                    "the value has form " + std::to_string(static_cast<unsigned char>(bytes.front())) +
                        "; this program reads form 1",
                    {}, is_binary(bytes) ? "use the version of Crater that wrote it" : "");
    BinaryReader::Run run{.pool = pool, .failed = false, .error = {}};
    if (BinaryReader::read(bytes.substr(1), object, type, layout_of(type), run, 0)) return {};
    return fail(std::move(run.error));
}

}  // namespace detail
}  // namespace crater::codec
