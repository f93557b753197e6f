#include <array>
#include <charconv>
#include <cmath>

#include "crater/base/ids.h"
#include "crater/codec/codec.h"
#include "units.h"

namespace crater::codec {
namespace {

void write_value(std::string& out, const void* object, const Type& type, std::string_view name,
                 WriteOptions how);

std::string_view enum_name(const void* object, const Type& type) {
    const std::int64_t value = type.get(object);
    for (std::size_t i = 0, n = type.rows(); i < n; ++i)
        if (const EnumRow row = type.row(i); row.value == value) return row.name;
    return {};
}

void append_whole(std::string& out, std::int64_t value, bool is_unsigned) {
    std::array<char, 24> buffer;
    const auto end = is_unsigned ? std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                                 static_cast<std::uint64_t>(value))
                                       .ptr
                                 : std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    out.append(buffer.data(), end);
}

void append_real(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    std::array<char, 32> buffer;
    out.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
}

class JsonWriter final : public Visitor {
  public:
    JsonWriter(std::string& out, WriteOptions how) : Visitor(false), out_(out), how_(how) {}

  protected:
    void on_field(std::string_view name, void* member, const Type& type, std::string_view,
                  const FieldOptions& options) override {
        const std::size_t before = out_.size();
        if (!first_) out_ += ',';
        out_ += '"';
        out_ += name;
        out_ += "\":";
        const std::size_t value = out_.size();
        if (type.kind == Kind::optional) {
            if (type.size(member) > 0) write_value(out_, type.at(member, 0), *type.element, name, how_);
        } else if (options.required || !is_empty(member, type)) {
            write_value(out_, member, type, name, how_);
        }
        const bool empty_text = type.kind != Kind::optional && std::string_view(out_).substr(value) == "\"\"";
        if (out_.size() == value || (empty_text && !options.required)) {
            out_.resize(before);
            return;
        }
        if (options.secret && !how_.reveal) {
            out_.resize(value);
            out_ += "\"***\"";
        }
        first_ = false;
    }

  private:
    static bool is_empty(const void* member, const Type& type) {
        switch (type.kind) {
            case Kind::list:
            case Kind::map: return type.size(member) == 0;
            case Kind::real: return !std::isfinite(*static_cast<const double*>(member));
            case Kind::instant: return type.get(member) == 0;
            case Kind::custom_list: return type.to_list(member).empty();
            default: return false;
        }
    }

    std::string& out_;
    WriteOptions how_;
    bool first_ = true;
};

void write_value(std::string& out, const void* object, const Type& type, std::string_view name,
                 WriteOptions how) {
    // Lists and optionals have one accessor for both uses.
    void* const writable = const_cast<void*>(object);
    switch (type.kind) {
        case Kind::text: append_json_string(out, *static_cast<const std::string*>(object)); break;
        case Kind::boolean: out += *static_cast<const bool*>(object) ? "true" : "false"; break;
        case Kind::integer: append_whole(out, type.get(object), type.lowest == 0); break;
        case Kind::real: append_real(out, *static_cast<const double*>(object)); break;
        case Kind::enumeration: append_json_string(out, enum_name(object, type)); break;
        case Kind::custom: append_json_string(out, type.to_text(object)); break;
        case Kind::custom_list: {
            out += '[';
            bool first = true;
            for (const auto& word : type.to_list(object)) {
                if (!first) out += ',';
                first = false;
                append_json_string(out, word);
            }
            out += ']';
            break;
        }
        case Kind::structure: {
            out += '{';
            JsonWriter writer(out, how);
            type.visit(writer, writable);
            out += '}';
            break;
        }
        case Kind::optional:
            if (type.size(object) > 0) {
                write_value(out, type.at(writable, 0), *type.element, name, how);
            } else {
                out += "null";
            }
            break;
        case Kind::list: {
            out += '[';
            for (std::size_t i = 0, n = type.size(object); i < n; ++i) {
                if (i > 0) out += ',';
                write_value(out, type.at(writable, i), *type.element, name, how);
            }
            out += ']';
            break;
        }
        case Kind::map: {
            struct Context {
                std::string& out;
                const Type& element;
                std::string_view name;
                WriteOptions how;
                bool first = true;
            } context{out, *type.element, name, how};
            out += '{';
            type.each(object, &context, [](void* c, const std::string& key, const void* value) {
                auto& to = *static_cast<Context*>(c);
                if (!to.first) to.out += ',';
                to.first = false;
                append_json_string(to.out, key);
                to.out += ':';
                write_value(to.out, value, to.element, to.name, to.how);
            });
            out += '}';
            break;
        }
        default: append_amount(out, type.kind, type.get(object), name);
    }
}

}  // namespace

namespace detail {

void write(std::string& out, const void* object, const Type& type, WriteOptions options) {
    write_value(out, object, type, {}, options);
}

}  // namespace detail
}  // namespace crater::codec
