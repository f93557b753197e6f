#include <bit>
#include <cstring>

#include "binary_form.h"
#include "crater/codec/binary.h"
#include "units.h"

namespace crater::codec {
namespace {

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
    void on_field(std::string_view name, void* member, const Type& type, std::string_view,
                  const FieldOptions&) override {
        const Layout::Slot& slot = layout_.find(next_, name);
        const bool structure = type.kind == Kind::structure;
        if (slot.may_be_absent && !structure && is_empty(member, type)) return;
        CRATER_CHECK(type.kind != Kind::optional || type.size(member) > 0,
                     "an optional with a default cannot be kept absent");
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
            for (std::size_t i = 0, n = type.size(object); i < n; ++i)
                put(out, type.at(object, i), *type.element, layout);
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

void write_fields(std::string& out, const void* object, const Type& type, const Layout& layout) {
    BinaryWriter writer(out, layout);
    type.visit(writer, const_cast<void*>(object));
}

namespace detail {

void write_binary(std::string& out, const void* object, const Type& type) {
    out += version;
    write_fields(out, object, type, layout_of(type));
}

}  // namespace detail
}  // namespace crater::codec
