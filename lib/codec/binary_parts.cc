// Parts of a value in the binary form, taken out and put in without reading the rest.
#include <algorithm>

#include "binary_form.h"
#include "crater/codec/binary.h"

namespace crater::codec {
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
        CRATER_TRY_VOID(each_field(out, [&, wanted = key_of(name, sized)](
                                            std::uint32_t key, std::string_view content, std::string_view) {
            if (key == wanted) found = content;
        }));
        out = found;
    }
    return out;
}

Result<std::optional<std::string>> binary_part(std::string_view value, std::string_view name) {
    std::optional<std::string> out;
    CRATER_TRY(fields, fields_of(value));
    CRATER_TRY_VOID(each_field(fields, [&, wanted = key_of(name, sized)](
                                           std::uint32_t key, std::string_view content, std::string_view) {
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

}  // namespace crater::codec
