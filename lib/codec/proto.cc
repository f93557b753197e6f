#include "crater/codec/proto.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include <map>
#include <memory>
#include <set>

#include "crater/base/ids.h"
#include "fields.h"
#include "units.h"

namespace crater::codec {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Cpp = FieldDescriptor::CppType;

bool is_integer(Cpp cpp) {
    return cpp == FieldDescriptor::CPPTYPE_INT64 || cpp == FieldDescriptor::CPPTYPE_UINT64 ||
           cpp == FieldDescriptor::CPPTYPE_INT32 || cpp == FieldDescriptor::CPPTYPE_UINT32;
}

// What is wrong with one value of `type` in `field`, apart from how many there are; "" when it fits.
std::string value_mismatch(const Type& type, const FieldDescriptor& field) {
    const Cpp cpp = field.cpp_type();
    const auto unless = [](bool fits, const char* needs) {
        return fits ? std::string() : std::string("needs ") + needs;
    };
    switch (type.kind) {
        case Kind::text:
        case Kind::custom:
        case Kind::custom_list: return unless(cpp == FieldDescriptor::CPPTYPE_STRING, "string");
        case Kind::boolean: return unless(cpp == FieldDescriptor::CPPTYPE_BOOL, "bool");
        case Kind::real: return unless(cpp == FieldDescriptor::CPPTYPE_DOUBLE, "double");
        case Kind::integer: {
            const bool is_unsigned =
                cpp == FieldDescriptor::CPPTYPE_UINT64 || cpp == FieldDescriptor::CPPTYPE_UINT32;
            const bool wide = cpp == FieldDescriptor::CPPTYPE_INT64 || cpp == FieldDescriptor::CPPTYPE_UINT64;
            const int bits = (wide ? 64 : 32) - (is_unsigned ? 0 : 1);
            const bool fits =
                is_integer(cpp) && (type.lowest == 0 || !is_unsigned) && (type.highest >> (bits - 1)) <= 1;
            return unless(fits, "an integer that holds its range");
        }
        case Kind::enumeration:
            if (cpp == FieldDescriptor::CPPTYPE_ENUM) {
                for (std::size_t i = 0; i < type.rows(); ++i)
                    if (const auto name = type.row(i).name;
                        !name.empty() && field.enum_type()->FindValueByName(std::string(name)) == nullptr)
                        return "needs the value " + std::string(name);
                return {};
            }
            return unless(cpp == FieldDescriptor::CPPTYPE_STRING, "string, or an enum of its names");
        case Kind::structure: return unless(cpp == FieldDescriptor::CPPTYPE_MESSAGE, "a message");
        case Kind::optional:
        case Kind::list:
        case Kind::map: return "cannot be nested here";
        default: return unless(cpp == FieldDescriptor::CPPTYPE_INT64, "int64");
    }
}

std::string field_mismatch(const Type& type, const FieldDescriptor* field) {
    if (field == nullptr) return "is not there";
    switch (type.kind) {
        case Kind::optional:
            if (field->is_repeated() || !field->has_presence()) return "needs presence (optional)";
            return value_mismatch(*type.element, *field);
        case Kind::list:
            if (!field->is_repeated() || field->is_map()) return "needs repeated";
            return value_mismatch(*type.element, *field);
        case Kind::custom_list:
            if (!field->is_repeated() || field->is_map()) return "needs repeated";
            return value_mismatch(type, *field);
        case Kind::map:
            if (!field->is_map() ||
                field->message_type()->map_key()->cpp_type() != FieldDescriptor::CPPTYPE_STRING)
                return "needs map<string, ...>";
            return value_mismatch(*type.element, *field->message_type()->map_value());
        default:
            if (field->is_repeated()) return "is repeated";
            return value_mismatch(type, *field);
    }
}

// Which field of the message each described field is, in the order of the description.
struct Plan {
    struct Slot {
        std::string name;
        const FieldDescriptor* field = nullptr;
        const FieldDescriptor* key = nullptr;    // of a map's entry
        const FieldDescriptor* value = nullptr;  // of a map's entry; else the field itself
        Plan* child = nullptr;                   // of the struct in it
        bool presence = false;
    };
    const Descriptor* descriptor = nullptr;
    std::vector<Slot> slots;

    const Slot& find(std::size_t& next, std::string_view name, const Type& type);
};

Plan& plan_of(const Type& type, const Descriptor* descriptor) {
    thread_local std::map<std::pair<const Type*, const Descriptor*>, std::unique_ptr<Plan>> plans;
    auto& plan = plans[{&type, descriptor}];
    if (plan == nullptr) {
        plan = std::make_unique<Plan>();
        plan->descriptor = descriptor;
    }
    return *plan;
}

const Plan::Slot& Plan::find(std::size_t& next, std::string_view name, const Type& type) {
    if (next < slots.size() && slots[next].name == name) return slots[next++];
    // First time, or a description that differs between in and out.
    for (std::size_t i = 0; i < slots.size(); ++i)
        if (slots[i].name == name) {
            next = i + 1;
            return slots[i];
        }
    Slot slot;
    slot.name = name;
    slot.field = descriptor->FindFieldByName(slot.name);
    if (const std::string wrong = field_mismatch(type, slot.field); !wrong.empty())
        CRATER_CHECK(false, descriptor->full_name() + "." + slot.name + " " + wrong);
    slot.value = slot.field;
    slot.presence = !slot.field->is_repeated() && slot.field->has_presence();
    if (slot.field->is_map()) {
        slot.key = slot.field->message_type()->map_key();
        slot.value = slot.field->message_type()->map_value();
    }
    if (const Type& inner = innermost(type); inner.kind == Kind::structure)
        slot.child = &plan_of(inner, slot.value->message_type());
    slots.push_back(std::move(slot));
    next = slots.size();
    return slots.back();
}

// ---- struct to message ----

class ProtoWriter final : public Visitor {
  public:
    ProtoWriter(Message& message, Plan& plan)
        : Visitor(false), message_(message), reflection_(*message.GetReflection()), plan_(plan) {}

  protected:
    void on_field(std::string_view name, void* member, const Type& type, std::string_view,
                  const FieldOptions&) override {
        const Plan::Slot& slot = plan_.find(next_, name, type);
        if (slot.field->is_repeated() && reflection_.FieldSize(message_, slot.field) > 0)
            reflection_.ClearField(&message_, slot.field);
        switch (type.kind) {
            case Kind::optional:
                if (type.size(member) > 0) {
                    set(message_, reflection_, slot, type.at(member, 0), *type.element, false);
                } else {
                    reflection_.ClearField(&message_, slot.field);
                }
                break;
            case Kind::list:
                for (std::size_t i = 0, n = type.size(member); i < n; ++i)
                    set(message_, reflection_, slot, type.at(member, i), *type.element, true);
                break;
            case Kind::custom_list:
                for (auto& word : type.to_list(member))
                    reflection_.AddString(&message_, slot.field, std::move(word));
                break;
            case Kind::map: {
                struct Context {
                    ProtoWriter& writer;
                    const Plan::Slot& slot;
                    const Type& element;
                } context{*this, slot, *type.element};
                type.each(member, &context, [](void* c, const std::string& key, const void* value) {
                    const auto& to = *static_cast<Context*>(c);
                    Message* entry = to.writer.reflection_.AddMessage(&to.writer.message_, to.slot.field);
                    const Reflection& reflection = *entry->GetReflection();
                    reflection.SetString(entry, to.slot.key, key);
                    set(*entry, reflection, to.slot, const_cast<void*>(value), to.element, false);
                });
                break;
            }
            default: set(message_, reflection_, slot, member, type, false);
        }
    }

  private:
    static void set(Message& message, const Reflection& reflection, const Plan::Slot& slot, void* object,
                    const Type& type, bool add) {
        const FieldDescriptor* field = slot.value;
        switch (type.kind) {
            case Kind::text:
                return set_string(message, reflection, field, *static_cast<const std::string*>(object), add);
            case Kind::custom: return set_string(message, reflection, field, type.to_text(object), add);
            case Kind::boolean: {
                const bool value = *static_cast<const bool*>(object);
                return add ? reflection.AddBool(&message, field, value)
                           : reflection.SetBool(&message, field, value);
            }
            case Kind::real: {
                const double value = *static_cast<const double*>(object);
                return add ? reflection.AddDouble(&message, field, value)
                           : reflection.SetDouble(&message, field, value);
            }
            case Kind::enumeration: return set_enum(message, reflection, field, type.get(object), type, add);
            case Kind::structure: {
                Message* child =
                    add ? reflection.AddMessage(&message, field) : reflection.MutableMessage(&message, field);
                ProtoWriter writer(*child, *slot.child);
                return type.visit(writer, object);
            }
            default: return set_integer(message, reflection, field, type.get(object), add);
        }
    }
    static void set_string(Message& message, const Reflection& reflection, const FieldDescriptor* field,
                           std::string value, bool add) {
        add ? reflection.AddString(&message, field, std::move(value))
            : reflection.SetString(&message, field, std::move(value));
    }
    static void set_integer(Message& message, const Reflection& reflection, const FieldDescriptor* field,
                            std::int64_t value, bool add) {
        switch (field->cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT64:
                return add ? reflection.AddInt64(&message, field, value)
                           : reflection.SetInt64(&message, field, value);
            case FieldDescriptor::CPPTYPE_UINT64: {
                const auto bits = static_cast<std::uint64_t>(value);
                return add ? reflection.AddUInt64(&message, field, bits)
                           : reflection.SetUInt64(&message, field, bits);
            }
            case FieldDescriptor::CPPTYPE_INT32: {
                const auto narrow = static_cast<std::int32_t>(value);
                return add ? reflection.AddInt32(&message, field, narrow)
                           : reflection.SetInt32(&message, field, narrow);
            }
            default: {
                const auto narrow = static_cast<std::uint32_t>(value);
                return add ? reflection.AddUInt32(&message, field, narrow)
                           : reflection.SetUInt32(&message, field, narrow);
            }
        }
    }
    static void set_enum(Message& message, const Reflection& reflection, const FieldDescriptor* field,
                         std::int64_t value, const Type& type, bool add) {
        std::string_view name;
        for (std::size_t i = 0, n = type.rows(); i < n; ++i)
            if (const EnumRow row = type.row(i); row.value == value) {
                name = row.name;
                break;
            }
        if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
            return set_string(message, reflection, field, std::string(name), add);
        const auto* proto = field->enum_type()->FindValueByName(std::string(name));
        if (proto == nullptr) proto = field->enum_type()->value(0);  // a value without a name
        add ? reflection.AddEnum(&message, field, proto) : reflection.SetEnum(&message, field, proto);
    }

    Message& message_;
    const Reflection& reflection_;
    Plan& plan_;
    std::size_t next_ = 0;
};

// ---- message to struct ----

class ProtoReader final : public Visitor {
  public:
    ProtoReader(const Message& message, Plan& plan)
        : Visitor(true), message_(message), reflection_(*message.GetReflection()), plan_(plan) {}
    Result<void> take() { return std::move(result_); }

  protected:
    void on_field(std::string_view name, void* member, const Type& type, std::string_view,
                  const FieldOptions&) override {
        const Plan::Slot& slot = plan_.find(next_, name, type);
        if (!result_) return;
        const FieldDescriptor* field = slot.field;
        switch (type.kind) {
            case Kind::optional:
                type.clear(member);
                if (reflection_.HasField(message_, field))
                    keep(name, get(message_, reflection_, slot, type.append(member), *type.element, -1));
                break;
            case Kind::list:
                type.clear(member);
                for (int i = 0, n = reflection_.FieldSize(message_, field); i < n && result_; ++i)
                    keep(name, get(message_, reflection_, slot, type.append(member), *type.element, i), i);
                break;
            case Kind::custom_list: {
                std::vector<std::string> words;
                for (int i = 0, n = reflection_.FieldSize(message_, field); i < n; ++i)
                    words.push_back(reflection_.GetRepeatedString(message_, field, i));
                if (!words.empty()) keep(name, type.from_list(std::move(words), member));
                break;
            }
            case Kind::map:
                type.clear(member);
                for (int i = 0, n = reflection_.FieldSize(message_, field); i < n && result_; ++i) {
                    const Message& entry = reflection_.GetRepeatedMessage(message_, field, i);
                    const Reflection& reflection = *entry.GetReflection();
                    const std::string key = reflection.GetString(entry, slot.key);
                    keep(std::string(name) + "." + key,
                         get(entry, reflection, slot, type.insert(member, key), *type.element, -1));
                }
                break;
            default:
                if (!slot.presence || reflection_.HasField(message_, field))
                    keep(name, get(message_, reflection_, slot, member, type, -1));
        }
    }

  private:
    void keep(std::string_view name, Result<void> read, int index = -1) {
        if (read) return;
        Error error = std::move(read.error());
        std::string path(name);
        if (index >= 0) path += "[" + std::to_string(index) + "]";
        error.field = error.field.empty() ? path : path + "." + error.field;
        result_ = fail(std::move(error));
    }

    // The value at `index`, or the single one when that is -1.
    static Result<void> get(const Message& message, const Reflection& reflection, const Plan::Slot& slot,
                            void* object, const Type& type, int index) {
        const FieldDescriptor* field = slot.value;
        const auto text = [&](std::string& scratch) -> const std::string& {
            return index >= 0 ? reflection.GetRepeatedStringReference(message, field, index, &scratch)
                              : reflection.GetStringReference(message, field, &scratch);
        };
        std::string scratch;
        switch (type.kind) {
            case Kind::text: *static_cast<std::string*>(object) = text(scratch); return {};
            case Kind::custom: {
                const std::string& value = text(scratch);
                return value.empty() ? Result<void>() : type.from_text(value, object);
            }
            case Kind::boolean:
                *static_cast<bool*>(object) = index >= 0 ? reflection.GetRepeatedBool(message, field, index)
                                                         : reflection.GetBool(message, field);
                return {};
            case Kind::real:
                *static_cast<double*>(object) = index >= 0
                                                    ? reflection.GetRepeatedDouble(message, field, index)
                                                    : reflection.GetDouble(message, field);
                return {};
            case Kind::enumeration: {
                if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
                    return set_enum(text(scratch), object, type);
                const int number = index >= 0 ? reflection.GetRepeatedEnumValue(message, field, index)
                                              : reflection.GetEnumValue(message, field);
                const auto* value = field->enum_type()->FindValueByNumber(number);
                return set_enum(value != nullptr ? value->name() : std::to_string(number), object, type);
            }
            case Kind::structure: {
                ProtoReader reader(index >= 0 ? reflection.GetRepeatedMessage(message, field, index)
                                              : reflection.GetMessage(message, field),
                                   *slot.child);
                type.visit(reader, object);
                return reader.take();
            }
            default: return get_integer(message, reflection, field, object, type, index);
        }
    }
    static Result<void> set_enum(const std::string& name, void* object, const Type& type) {
        for (std::size_t i = 0, n = type.rows(); i < n; ++i)
            if (const EnumRow row = type.row(i); row.name == name) {
                type.set(object, row.value);
                return {};
            }
        if (name.empty()) return {};
        return fail(Code::invalid, "the name " + shown(name) + " is not known");
    }
    static Result<void> get_integer(const Message& message, const Reflection& reflection,
                                    const FieldDescriptor* field, void* object, const Type& type, int index) {
        std::int64_t value = 0;
        bool is_unsigned = false;
        switch (field->cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT64:
                value = index >= 0 ? reflection.GetRepeatedInt64(message, field, index)
                                   : reflection.GetInt64(message, field);
                break;
            case FieldDescriptor::CPPTYPE_UINT64:
                value =
                    static_cast<std::int64_t>(index >= 0 ? reflection.GetRepeatedUInt64(message, field, index)
                                                         : reflection.GetUInt64(message, field));
                is_unsigned = true;
                break;
            case FieldDescriptor::CPPTYPE_INT32:
                value = index >= 0 ? reflection.GetRepeatedInt32(message, field, index)
                                   : reflection.GetInt32(message, field);
                break;
            default:
                value = index >= 0 ? reflection.GetRepeatedUInt32(message, field, index)
                                   : reflection.GetUInt32(message, field);
        }
        if (type.kind == Kind::integer) {
            const bool fits = is_unsigned
                                  ? static_cast<std::uint64_t>(value) <= type.highest
                                  : value >= type.lowest &&
                                        (value < 0 || static_cast<std::uint64_t>(value) <= type.highest);
            if (!fits)
                return fail(Code::invalid,
                            "found " +
                                (is_unsigned ? std::to_string(static_cast<std::uint64_t>(value))
                                             : std::to_string(value)) +
                                "; allowed: " + std::to_string(type.lowest) + " to " +
                                std::to_string(type.highest));
        }
        type.set(object, value);
        return {};
    }

    const Message& message_;
    const Reflection& reflection_;
    Plan& plan_;
    std::size_t next_ = 0;
    Result<void> result_;
};

void collect_missing(const Type& type, const Descriptor& descriptor, const std::string& prefix,
                     std::set<std::pair<const Type*, const Descriptor*>>& seen,
                     std::vector<std::string>& out) {
    if (!seen.emplace(&type, &descriptor).second) return;
    struct Context {
        const Type& type;
        std::vector<FieldInfo> fields;
    } context{type, {}};
    type.with_fresh(
        [](void* c, void* object) {
            auto& to = *static_cast<Context*>(c);
            to.fields = FieldList(to.type, object, false).fields;
            for (auto& info : FieldList(to.type, object, true).fields) to.fields.push_back(std::move(info));
        },
        &context);
    std::set<std::string_view> names;
    for (const auto& info : context.fields) {
        if (!names.insert(info.name).second) continue;
        const FieldDescriptor* field = descriptor.FindFieldByName(std::string(info.name));
        const std::string path = prefix + std::string(info.name);
        if (const std::string wrong = field_mismatch(*info.type, field); !wrong.empty()) {
            out.push_back(path + ": " + wrong + " in " + descriptor.name());
            continue;
        }
        if (const Type& inner = innermost(*info.type); inner.kind == Kind::structure) {
            const FieldDescriptor* value = field->is_map() ? field->message_type()->map_value() : field;
            collect_missing(inner, *value->message_type(), path + ".", seen, out);
        }
    }
}

}  // namespace

namespace detail {

void to_proto(const void* object, const Type& type, Message& message) {
    ProtoWriter writer(message, plan_of(type, message.GetDescriptor()));
    type.visit(writer, const_cast<void*>(object));
}

Result<void> from_proto(const Message& message, void* object, const Type& type) {
    ProtoReader reader(message, plan_of(type, message.GetDescriptor()));
    type.visit(reader, object);
    return reader.take();
}

std::vector<std::string> missing_in_proto(const Type& type, const Descriptor& descriptor) {
    std::vector<std::string> out;
    std::set<std::pair<const Type*, const Descriptor*>> seen;
    collect_missing(type, descriptor, "", seen, out);
    return out;
}

}  // namespace detail
std::string to_bytes(const google::protobuf::Message& message) {
    std::string bytes(message.ByteSizeLong(), '\0');
    {
        google::protobuf::io::ArrayOutputStream stream(bytes.data(), static_cast<int>(bytes.size()));
        google::protobuf::io::CodedOutputStream coded(&stream);
        coded.SetSerializationDeterministic(true);
        message.SerializeWithCachedSizes(&coded);
    }
    return bytes;
}

}  // namespace crater::codec
