// Described structs as protobuf messages with equal field names, by reflection.
//
//   string, bool, double, whole numbers   the same (whole numbers: any integer field that is wide enough)
//   quantities, Millis, Instant           int64 in the type's own unit, whatever the name says: bytes, MiB,
//   bytes/s, ms enums                                 string with the name, or a proto enum with equal names
//   from_text/to_text, from_list/to_list  string, repeated string
//   struct, list, map                     message, repeated, map<string, ...>
//   std::optional                         a field with presence: `optional` of proto3, or a message
//
// A described field without a fitting one in the message is our own mistake and aborts; a test asks
// missing_in_proto first. Fields of the message that nothing describes are left alone. Callable from any
// thread, a message by one at a time. Descriptors must live for ever, as those of generated code do: what was
// found is remembered per thread.
#pragma once

#include <string>
#include <vector>

#include "crater/base/error.h"
#include "crater/codec/type.h"

namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

namespace crater::codec {

namespace detail {
void to_proto(const void* object, const Type& type, google::protobuf::Message& message);
Result<void> from_proto(const google::protobuf::Message& message, void* object, const Type& type);
std::vector<std::string> missing_in_proto(const Type& type, const google::protobuf::Descriptor& descriptor);
}  // namespace detail

// Replaces the described fields of `message`.
template <class T>
void to_proto(const T& value, google::protobuf::Message& message) {
    static_assert(detail::Described<T>);
    detail::to_proto(&value, type_of<T>, message);
}

// Fields with presence that the message lacks, and empty names and texts of an enum or a type of its own,
// keep what `out` holds; all others are overwritten, also with 0. Code::invalid with the dotted path for an
// unknown enum name, a number out of range, or text that from_text refuses; `out` may then be partly changed.
template <class T>
Result<void> from_proto(const google::protobuf::Message& message, T& out) {
    static_assert(detail::Described<T>);
    return detail::from_proto(message, &out, type_of<T>);
}

// The message's bytes, the same for equal messages: maps are written in the order of their keys.
std::string to_bytes(const google::protobuf::Message& message);

// Described fields, nested ones dotted, that the message cannot hold, each with the reason. Empty = all is
// well.
template <class T>
std::vector<std::string> missing_in_proto(const google::protobuf::Descriptor& descriptor) {
    return detail::missing_in_proto(type_of<T>, descriptor);
}

}  // namespace crater::codec
