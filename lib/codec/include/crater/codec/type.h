// What a described struct looks like at run time: one Type per C++ type, and the Visitor that a `describe`
// function fills with the fields of one object. Everything that reads, writes, documents or maps described
// structs works on these two, so a file that uses them compiles one small function per struct and no JSON.
//
// A type of its own is read and written as text when free functions `Result<void> from_text(std::string_view,
// T&)` and `std::string to_text(const T&)` stand beside it, as a list of texts when `Result<void>
// from_list(std::vector<std::string>, T&)` and `std::vector<std::string> to_list(const T&)` do (then
// `from_text`, when present, also takes a single text).
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "crater/base/describe.h"
#include "crater/base/error.h"
#include "crater/base/quantity.h"

namespace crater::codec {

class Visitor;

enum class Kind : std::uint8_t {
    text,
    boolean,
    integer,
    real,
    bytes,
    mebibytes,
    milli_cpu,
    milli_gpu,
    bytes_per_second,
    iops,
    micros,
    millis,
    instant,
    enumeration,
    custom,       // from_text, to_text
    custom_list,  // from_list, to_list
    structure,
    optional,
    list,
    map,  // from std::string
};

struct EnumRow {
    std::int64_t value;
    std::string_view name;
};

// Functions take the object's address. Only those of the type's kind are set.
struct Type {
    Kind kind;
    // integer, all quantities, millis, instant, enumeration. A uint64 travels as the int64 of the same bits.
    std::int64_t (*get)(const void*) = nullptr;
    void (*set)(void*, std::int64_t) = nullptr;
    std::int64_t lowest = 0;  // integer
    std::uint64_t highest = 0;
    std::size_t (*rows)() = nullptr;  // enumeration
    EnumRow (*row)(std::size_t) = nullptr;
    Result<void> (*from_text)(std::string_view, void*) = nullptr;
    std::string (*to_text)(const void*) = nullptr;
    Result<void> (*from_list)(std::vector<std::string>, void*) = nullptr;
    std::vector<std::string> (*to_list)(const void*) = nullptr;
    void (*visit)(Visitor&, void*) = nullptr;  // structure
    // Makes a fresh object and hands it to `use`.
    void (*with_fresh)(void (*use)(void* context, void* object), void* context) = nullptr;
    // optional (of size 0 or 1; also a shared_ptr to const), list, map
    const Type* element = nullptr;
    std::size_t (*size)(const void*) = nullptr;
    void (*clear)(void*) = nullptr;
    void* (*at)(void*, std::size_t) = nullptr;      // optional, list
    void* (*append)(void*) = nullptr;               // optional, list
    void (*reserve)(void*, std::size_t) = nullptr;  // list
    void* (*insert)(void*, std::string) = nullptr;  // map
    void (*each)(const void*, void* context,
                 void (*use)(void* context, const std::string& key, const void* value)) = nullptr;
    // An optional that is a shared_ptr<const E>: its owner, and the way to make it own what another one does.
    std::shared_ptr<const void> (*owner)(const void*) = nullptr;
    void (*adopt)(void*, const std::shared_ptr<const void>&) = nullptr;
};
// Of lists of lists, and so on.
inline const Type& innermost(const Type& type) {
    return type.element != nullptr ? innermost(*type.element) : type;
}

// Receives the fields of one object, in the order of its description.
class Visitor {
  public:
    virtual ~Visitor() = default;
    template <class M>
    void field(std::string_view name, M& member, std::string_view help, const FieldOptions& options = {});
    // Whether the visit fills the object, for a description that differs between in and out.
    bool reading() const { return reading_; }

  protected:
    explicit Visitor(bool reading) : reading_(reading) {}
    virtual void on_field(std::string_view name, void* member, const Type& type, std::string_view help,
                          const FieldOptions& options) = 0;

  private:
    bool reading_;
};

namespace detail {

template <class T>
concept TextLike = requires(std::string_view text, T& out, const T& in) {
    { from_text(text, out) } -> std::same_as<Result<void>>;
    { to_text(in) } -> std::convertible_to<std::string>;
};
template <class T>
concept ListLike = requires(std::vector<std::string> words, T& out, const T& in) {
    { from_list(std::move(words), out) } -> std::same_as<Result<void>>;
    { to_list(in) } -> std::convertible_to<std::vector<std::string>>;
};
template <class T>
concept FromText = requires(std::string_view text, T& out) {
    { from_text(text, out) } -> std::same_as<Result<void>>;
};
template <class T>
concept Named = std::is_enum_v<T> && requires {
    enum_names(T{});
};
template <class T>
concept Described = std::is_class_v<T> && requires(Visitor& v, T& t) {
    describe(v, t);
};

template <class T>
struct Container {};
template <class E>
struct Container<std::optional<E>> {
    using Element = E;
    static constexpr Kind kind = Kind::optional;
};
// Immutable and perhaps shared with others; null is absent.
template <class E>
struct Container<std::shared_ptr<const E>> {
    using Element = E;
    static constexpr Kind kind = Kind::optional;
};
template <class E>
struct Container<std::vector<E>> {
    using Element = E;
    static constexpr Kind kind = Kind::list;
};
template <class E>
struct Container<std::map<std::string, E>> {
    using Element = E;
    static constexpr Kind kind = Kind::map;
};

template <class T>
consteval Type make_type();

}  // namespace detail

template <class T>
inline constexpr Type type_of = detail::make_type<T>();

namespace detail {

template <class T>
const T& as(const void* object) {
    return *static_cast<const T*>(object);
}
template <class T>
T& as(void* object) {
    return *static_cast<T*>(object);
}

template <class U>
consteval Type quantity_type(Kind kind) {
    Type type{kind};
    type.get = [](const void* o) { return as<U>(o).value; };
    type.set = [](void* o, std::int64_t v) { as<U>(o).value = v; };
    return type;
}

template <class T>
consteval Type container_type() {
    using E = typename Container<T>::Element;
    static_assert(!std::same_as<E, bool> || Container<T>::kind == Kind::optional,
                  "a list of bool cannot be described");
    Type type{Container<T>::kind};
    type.element = &type_of<E>;
    if constexpr (std::same_as<T, std::shared_ptr<const E>>) {
        type.size = [](const void* o) -> std::size_t { return as<T>(o) ? 1 : 0; };
        type.clear = [](void* o) { as<T>(o).reset(); };
        type.at = [](void* o, std::size_t) -> void* { return const_cast<E*>(as<T>(o).get()); };
        // What is shared is not changed: a value that is read is a new object.
        type.append = [](void* o) -> void* {
            auto fresh = std::make_shared<E>();
            E* const out = fresh.get();
            as<T>(o) = std::move(fresh);
            return out;
        };
        type.owner = [](const void* o) -> std::shared_ptr<const void> { return as<T>(o); };
        type.adopt = [](void* o, const std::shared_ptr<const void>& p) {
            as<T>(o) = std::static_pointer_cast<const E>(p);
        };
    } else if constexpr (Container<T>::kind == Kind::optional) {
        type.size = [](const void* o) -> std::size_t { return as<T>(o).has_value() ? 1 : 0; };
        type.clear = [](void* o) { as<T>(o).reset(); };
        type.at = [](void* o, std::size_t) -> void* { return &*as<T>(o); };
        type.append = [](void* o) -> void* { return &as<T>(o).emplace(); };
    } else {
        type.size = [](const void* o) { return as<T>(o).size(); };
        type.clear = [](void* o) { as<T>(o).clear(); };
    }
    if constexpr (Container<T>::kind == Kind::list) {
        type.at = [](void* o, std::size_t i) -> void* { return &as<T>(o)[i]; };
        type.append = [](void* o) -> void* { return &as<T>(o).emplace_back(); };
        type.reserve = [](void* o, std::size_t n) { as<T>(o).reserve(n); };
    }
    if constexpr (Container<T>::kind == Kind::map) {
        type.insert = [](void* o, std::string key) -> void* { return &as<T>(o)[std::move(key)]; };
        type.each = [](const void* o, void* context, void (*use)(void*, const std::string&, const void*)) {
            for (const auto& [key, value] : as<T>(o)) use(context, key, &value);
        };
    }
    return type;
}

template <class T>
consteval Type make_type() {
    if constexpr (std::same_as<T, std::string>) {
        return Type{Kind::text};
    } else if constexpr (std::same_as<T, bool>) {
        return Type{Kind::boolean};
    } else if constexpr (std::same_as<T, double>) {
        return Type{Kind::real};
    } else if constexpr (std::integral<T>) {
        Type type{Kind::integer};
        type.get = [](const void* o) { return static_cast<std::int64_t>(as<T>(o)); };
        type.set = [](void* o, std::int64_t v) { as<T>(o) = static_cast<T>(v); };
        type.lowest = static_cast<std::int64_t>(std::numeric_limits<T>::min());
        type.highest = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
        return type;
    } else if constexpr (std::same_as<T, Bytes>) {
        return quantity_type<T>(Kind::bytes);
    } else if constexpr (std::same_as<T, Mebibytes>) {
        return quantity_type<T>(Kind::mebibytes);
    } else if constexpr (std::same_as<T, MilliCpu>) {
        return quantity_type<T>(Kind::milli_cpu);
    } else if constexpr (std::same_as<T, MilliGpu>) {
        return quantity_type<T>(Kind::milli_gpu);
    } else if constexpr (std::same_as<T, BytesPerSecond>) {
        return quantity_type<T>(Kind::bytes_per_second);
    } else if constexpr (std::same_as<T, Iops>) {
        return quantity_type<T>(Kind::iops);
    } else if constexpr (std::same_as<T, Micros>) {
        return quantity_type<T>(Kind::micros);
    } else if constexpr (std::same_as<T, Millis>) {
        Type type{Kind::millis};
        type.get = [](const void* o) -> std::int64_t { return as<T>(o).count(); };
        type.set = [](void* o, std::int64_t v) { as<T>(o) = T(v); };
        return type;
    } else if constexpr (std::same_as<T, Instant>) {
        Type type{Kind::instant};
        type.get = [](const void* o) { return as<T>(o).ms; };
        type.set = [](void* o, std::int64_t v) { as<T>(o).ms = v; };
        return type;
    } else if constexpr (requires { typename Container<T>::Element; }) {
        return container_type<T>();
    } else if constexpr (Named<T>) {
        Type type{Kind::enumeration};
        type.get = [](const void* o) { return static_cast<std::int64_t>(as<T>(o)); };
        type.set = [](void* o, std::int64_t v) { as<T>(o) = static_cast<T>(v); };
        type.rows = []() -> std::size_t { return enum_names(T{}).size(); };
        type.row = [](std::size_t i) {
            const auto& row = enum_names(T{})[i];
            return EnumRow{static_cast<std::int64_t>(row.value), row.name};
        };
        return type;
    } else if constexpr (ListLike<T>) {
        Type type{Kind::custom_list};
        type.from_list = [](std::vector<std::string> words, void* o) {
            return from_list(std::move(words), as<T>(o));
        };
        type.to_list = [](const void* o) -> std::vector<std::string> { return to_list(as<T>(o)); };
        if constexpr (FromText<T>)
            type.from_text = [](std::string_view text, void* o) { return from_text(text, as<T>(o)); };
        return type;
    } else if constexpr (TextLike<T>) {
        Type type{Kind::custom};
        type.from_text = [](std::string_view text, void* o) { return from_text(text, as<T>(o)); };
        type.to_text = [](const void* o) -> std::string { return to_text(as<T>(o)); };
        return type;
    } else {
        static_assert(
            Described<T>,
            "no description: a struct needs describe(v, s), an enum enum_names(e), see base/describe.h");
        Type type{Kind::structure};
        type.visit = [](Visitor& v, void* o) { describe(v, as<T>(o)); };
        type.with_fresh = [](void (*use)(void*, void*), void* context) {
            T fresh{};
            use(context, &fresh);
        };
        return type;
    }
}

}  // namespace detail

template <class M>
void Visitor::field(std::string_view name, M& member, std::string_view help, const FieldOptions& options) {
    static_assert(!std::is_const_v<M>, "a described member is not const");
    on_field(name, &member, type_of<M>, help, options);
}

}  // namespace crater::codec
