// Described structs as compact bytes, for what is kept: a tenth of the time and less than half the room of
// JSON.
//
//     value  = version (1 byte, 1), fields
//     field  = key (3 bytes, little endian: 22 bits of the hash of the field's name, 2 bits of form), content
//     form 0 = varint: whole numbers, quantities in their own unit, times in ms (signed ones zigzag),
//     booleans form 1 = 8 bytes, little endian: double form 2 = length (varint), bytes: text; an enum's name;
//     a type of its own as its text; a struct's fields;
//              a list (form of its items, count, items); a map (form of its values, count, key and value
//              each)
//
// A field that is zero or empty is left out where a fresh object has it zero or empty too; one that is absent
// keeps what a fresh object has. So fields may be added (old values have the default), removed (they are
// skipped) and put in another order. A default may change unless it is zero or empty: that one is what absent
// fields mean. An enum's values may be put in another order, since it goes by name. A new name is a new
// field.
//
// Reading never trusts the bytes: any bytes give a value or an error (Code::invalid with the dotted path).
// Ranges of FieldOptions hold as for documents. Pure; callable from any thread.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crater/base/error.h"
#include "crater/codec/type.h"

namespace crater::codec {

// Members that are a shared_ptr to const: those read through one pool from equal bytes are one object, for as
// long as somebody holds it. By one thread at a time.
class SharedPool {
  public:
    std::size_t objects() const;  // that somebody holds

  private:
    friend class BinaryReader;
    struct Known {
        const Type* type;
        std::weak_ptr<const void> object;
    };
    void add(std::uint64_t hash, Known known);

    std::unordered_multimap<std::uint64_t, Known> by_hash_;
    std::size_t sweep_at_ = 64;  // what nobody holds is forgotten when there are so many
};

// Whether the bytes begin as a value of this form does; JSON never does.
bool is_binary(std::string_view bytes);

namespace detail {
void write_binary(std::string& out, const void* object, const Type& type);
Result<void> read_binary(std::string_view bytes, void* object, const Type& type, SharedPool* pool);
std::vector<std::string> binary_problems(const Type& type);
}  // namespace detail

// Secrets are in clear. Equal objects give equal bytes.
template <class T>
void append_binary(std::string& out, const T& value) {
    static_assert(detail::Described<T>);
    detail::write_binary(out, &value, type_of<T>);
}
template <class T>
std::string write_binary(const T& value) {
    std::string out;
    append_binary(out, value);
    return out;
}

template <class T>
Result<void> read_binary_into(T& out, std::string_view bytes, SharedPool* pool = nullptr) {
    static_assert(detail::Described<T>);
    return detail::read_binary(bytes, &out, type_of<T>, pool);
}
template <class T>
Result<T> read_binary(std::string_view bytes, SharedPool* pool = nullptr) {
    T out{};
    CRATER_TRY_VOID(read_binary_into(out, bytes, pool));
    return out;
}

// Parts of a value of this form, found without reading the rest. What is cut short or no such value gives an
// error, as reading does.
//
// The struct in the field `name` as a value of its own; absent when the field is.
Result<std::optional<std::string>> binary_part(std::string_view value, std::string_view name);
// The text in the field at the end of `path`, which leads through structs, within `value`; empty when it is
// absent.
Result<std::string_view> binary_text(std::string_view value, std::initializer_list<std::string_view> path);
// The value without the fields of these names.
Result<std::string> binary_without(std::string_view value, std::span<const std::string_view> names);
// The value with one more field, a struct, behind the others: `part` is a value too.
std::string binary_with(std::string value, std::string_view name, std::string_view part);

// Fields that this form cannot keep, nested ones dotted, each with the reason: two names of a struct with
// equal keys, an optional or a struct whose default within its owner is not what a fresh one has. Empty = all
// is well; a test asks.
template <class T>
std::vector<std::string> binary_problems() {
    return detail::binary_problems(type_of<T>);
}

}  // namespace crater::codec
