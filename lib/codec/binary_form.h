// The binary form on the inside: how a struct's fields become keys and forms, and the bytes of one field.
// What it looks like: crater/codec/binary.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crater/base/error.h"
#include "fields.h"

namespace crater::codec {

inline constexpr char version = 1;
inline constexpr int depth_max = 32;

enum Form : std::uint32_t { varint = 0, fixed = 1, sized = 2 };
Form form_of(const Type& type);
// Of a field: a hash of its name above its form.
std::uint32_t key_of(std::string_view name, Form form);
inline bool is_unsigned(const Type& type) { return type.kind == Kind::integer && type.lowest == 0; }
// Of a value of an enumeration; empty when it has none.
std::string_view enum_name(const Type& type, std::int64_t value);
// Structs always count as empty here: whether they are is seen by what they write.
bool is_empty(void* member, const Type& type);

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
// Made once per thread and type.
Layout& layout_of(const Type& type);

inline void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

inline std::uint64_t zigzag(std::int64_t value) {
    return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t bits) {
    return static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
}

inline void append_text(std::string& out, std::string_view text) {
    append_varint(out, text.size());
    out += text;
}

// The fields of a struct that are not empty, appended (binary_write.cc).
void write_fields(std::string& out, const void* object, const Type& type, const Layout& layout);

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
        for (std::size_t i = 0; i < count; ++i)
            value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
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
        if (form == varint)
            out.bits = number();
        else if (form == fixed)
            out.bits = little_endian(8);
        else if (form == sized)
            out.bytes = text();
        else
            stop();
        return out;
    }
    std::uint64_t stop() {
        good = false;
        rest = {};
        return 0;
    }
};

}  // namespace crater::codec
