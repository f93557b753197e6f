// Text to tree and back: JSON through nlohmann's SAX parser, YAML through yaml-cpp's events. Both fill one
// TreeBuilder, which holds the rules.
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "crater/base/ids.h"
#include "crater/codec/codec.h"

namespace crater::codec {
namespace {

std::string place(std::size_t line, std::size_t column) {
    return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": ";
}

// Puts values, lists and objects together and refuses what goes too deep or comes twice. Returns "" or what
// is wrong.
template <class Tree>
class TreeBuilder {
  public:
    std::string value(Tree value) {
        if (open_.empty()) {
            root_ = std::move(value);
        } else if (open_.back()->is_array()) {
            open_.back()->push_back(std::move(value));
        } else {
            *member_ = std::move(value);
        }
        return {};
    }
    std::string key(std::string key) {
        Tree& object = *open_.back();
        if (object.contains(key)) return "the key " + shown(key) + " is given twice";
        member_ = &object[std::move(key)];
        return {};
    }
    std::string begin(Tree empty) {
        if (open_.size() >= document_depth_max)
            return "nested deeper than " + std::to_string(document_depth_max);
        if (open_.empty()) {
            root_ = std::move(empty);
            open_.push_back(&root_);
        } else if (open_.back()->is_array()) {
            open_.back()->push_back(std::move(empty));
            open_.push_back(&open_.back()->back());
        } else {
            *member_ = std::move(empty);
            open_.push_back(member_);
        }
        return {};
    }
    void end() { open_.pop_back(); }
    Tree take() { return std::move(root_); }

  private:
    Tree root_;
    std::vector<Tree*> open_;  // pointers stay good: only the innermost list grows
    Tree* member_ = nullptr;
};

// Counts what the parser has taken, so that an error can name its place.
class CountingIterator {
  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator() = default;
    CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        *furthest_ = ++at_;
        return *this;
    }
    CountingIterator operator++(int) {
        CountingIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

  private:
    const char* at_ = nullptr;
    const char** furthest_ = nullptr;
};

template <class Tree>
class JsonEvents : public nlohmann::json_sax<Tree> {
  public:
    bool null() override { return keep(builder_.value(nullptr)); }
    bool boolean(bool v) override { return keep(builder_.value(v)); }
    bool number_integer(std::int64_t v) override { return keep(builder_.value(v)); }
    bool number_unsigned(std::uint64_t v) override { return keep(builder_.value(v)); }
    bool number_float(double v, const std::string& text) override {
        if (!std::isfinite(v) || text.find_first_of(".eE") == std::string::npos)
            return keep("the number " + shown(text) + " is too large");
        return keep(builder_.value(v));
    }
    bool string(std::string& v) override { return keep(builder_.value(std::move(v))); }
    bool binary(typename Tree::binary_t&) override { return keep("binary data"); }
    bool start_object(std::size_t) override { return keep(builder_.begin(Tree::object())); }
    bool key(std::string& v) override { return keep(builder_.key(std::move(v))); }
    bool end_object() override {
        builder_.end();
        return true;
    }
    bool start_array(std::size_t) override { return keep(builder_.begin(Tree::array())); }
    bool end_array() override {
        builder_.end();
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
        // "[json.exception.parse_error.101] parse error at line 1, column 3: syntax error while ...": the
        // part behind the place.
        std::string_view text = e.what();
        if (const auto at = text.find("] "); at != std::string_view::npos) text.remove_prefix(at + 2);
        if (const auto at = text.find(": "); at != std::string_view::npos) text.remove_prefix(at + 2);
        if (text.starts_with("number overflow")) return keep("a number is too large");
        return keep("not JSON: " + std::string(text));
    }

    std::string wrong;
    Tree take() { return builder_.take(); }

  private:
    bool keep(std::string problem) {
        if (problem.empty()) return true;
        wrong = std::move(problem);
        return false;
    }
    TreeBuilder<Tree> builder_;
};

Result<void> check_text(std::string_view text, std::size_t bytes_max) {
    if (text.size() > bytes_max)
        return fail(Code::too_large, "the document has " + std::to_string(text.size()) +
                                         " bytes; allowed: " + std::to_string(bytes_max));
    if (!valid_utf8(text)) return fail(Code::invalid, "the document is not valid UTF-8");
    return {};
}

template <class Tree>
Result<Tree> parse_json_as(std::string_view text, std::size_t bytes_max) {
    CRATER_TRY_VOID(check_text(text, bytes_max));
    JsonEvents<Tree> events;
    const char* furthest = text.data();
    const char* const end = text.data() + text.size();
    if (Tree::sax_parse(CountingIterator(text.data(), &furthest), CountingIterator(end, &furthest), &events))
        return events.take();
    std::size_t line = 1, column = 1;
    for (const char* at = text.data(); at + 1 < furthest; ++at) {
        if (*at == '\n') {
            ++line;
            column = 1;
        } else if ((static_cast<unsigned char>(*at) & 0xc0) != 0x80) {
            ++column;
        }
    }
    return fail(Code::invalid, place(line, column) + events.wrong);
}

// ---- YAML ----

struct YamlRefused {
    std::string message;
};

bool all_digits(std::string_view text, std::string_view digits = "0123456789") {
    return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_core_float(std::string_view text) {
    const auto sign = [](std::string_view t) {
        return !t.empty() && (t[0] == '-' || t[0] == '+') ? t.substr(1) : t;
    };
    text = sign(text);
    if (const auto e = text.find_first_of("eE"); e != std::string_view::npos) {
        if (!all_digits(sign(text.substr(e + 1)))) return false;
        text = text.substr(0, e);
    }
    const auto dot = text.find('.');
    if (dot == std::string_view::npos) return all_digits(text);
    const std::string_view whole = text.substr(0, dot), part = text.substr(dot + 1);
    if (whole.empty()) return all_digits(part);
    return all_digits(whole) && (part.empty() || all_digits(part));
}

bool is_core_null(std::string_view text) {
    return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}
bool is_core_true(std::string_view text) { return text == "true" || text == "True" || text == "TRUE"; }
bool is_core_false(std::string_view text) { return text == "false" || text == "False" || text == "FALSE"; }
bool is_core_special_float(std::string_view text) {
    const std::string_view bare = !text.empty() && (text[0] == '-' || text[0] == '+') ? text.substr(1) : text;
    for (const std::string_view name : {".inf", ".Inf", ".INF"})
        if (bare == name) return true;
    return text == ".nan" || text == ".NaN" || text == ".NAN";
}

// A plain scalar by the core schema.
Json resolve(const std::string& text) {
    if (is_core_null(text)) return nullptr;
    if (is_core_true(text)) return true;
    if (is_core_false(text)) return false;
    if (is_core_special_float(text)) throw YamlRefused{shown(text) + " is not a finite number"};
    std::string_view digits = text;
    const bool negative = digits[0] == '-';
    if (negative || digits[0] == '+') digits.remove_prefix(1);
    int base = 10;
    if (digits == text && text.starts_with("0x") && all_digits(text.substr(2), "0123456789abcdefABCDEF"))
        base = 16;
    if (digits == text && text.starts_with("0o") && all_digits(text.substr(2), "01234567")) base = 8;
    if (base != 10) digits.remove_prefix(2);
    if (base != 10 || all_digits(digits)) {
        std::uint64_t size = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size, base);
        constexpr std::uint64_t int64_max = std::numeric_limits<std::int64_t>::max();
        if (error != std::errc() || (negative && size > int64_max))
            throw YamlRefused{"the number " + shown(text) + " is too large; write a text in quotes"};
        if (negative) return -static_cast<std::int64_t>(size);
        return size <= int64_max ? Json(static_cast<std::int64_t>(size)) : Json(size);
    }
    if (!is_core_float(text)) return text;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + (text[0] == '+' ? 1 : 0), text.data() + text.size(), value);
    if (error != std::errc() || !std::isfinite(value))
        throw YamlRefused{"the number " + shown(text) + " is too large or too small; write a text in quotes"};
    return value;
}

class YamlEvents : public YAML::EventHandler {
  public:
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (at_key()) refuse(mark, "a key is empty");
        scalar(mark, anchor, [] { return Json(nullptr); }, {});
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(mark, "aliases (*name) are not allowed");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        const auto value = [&]() -> Json {
            if (tag == "!" || tag == "tag:yaml.org,2002:str") return text;
            if (tag == "?" || tag.empty()) return resolve(text);
            throw YamlRefused{"the tag " + shown(tag) + " is not allowed"};
        };
        scalar(mark, anchor, value, text);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        begin(mark, tag, anchor, Json::array(), false);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        begin(mark, tag, anchor, Json::object(), true);
    }
    void OnMapEnd() override { end(); }

    Json take() { return builder_.take(); }

  private:
    struct Level {
        bool map;
        bool key_next;
    };

    [[noreturn]] static void refuse(const YAML::Mark& mark, const std::string& message) {
        throw YamlRefused{
            place(static_cast<std::size_t>(mark.line + 1), static_cast<std::size_t>(mark.column + 1)) +
            message};
    }
    static void keep(const YAML::Mark& mark, const std::string& problem) {
        if (!problem.empty()) refuse(mark, problem);
    }
    static void check_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
        if (anchor != 0) refuse(mark, "anchors (&name) are not allowed");
    }
    bool at_key() const { return !levels_.empty() && levels_.back().map && levels_.back().key_next; }
    void value_done() {
        if (!levels_.empty() && levels_.back().map) levels_.back().key_next = true;
    }

    template <class Value>
    void scalar(const YAML::Mark& mark, YAML::anchor_t anchor, Value value, const std::string& text) {
        check_anchor(mark, anchor);
        if (at_key()) {
            keep(mark, builder_.key(text));
            levels_.back().key_next = false;
            return;
        }
        try {
            keep(mark, builder_.value(value()));
        } catch (const YamlRefused& refused) {
            refuse(mark, refused.message);
        }
        value_done();
    }
    void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json empty, bool map) {
        check_anchor(mark, anchor);
        if (at_key()) refuse(mark, "a key must be a single text");
        if (!(tag.empty() || tag == "?" || tag == "!" ||
              tag == (map ? "tag:yaml.org,2002:map" : "tag:yaml.org,2002:seq")))
            refuse(mark, "the tag " + shown(tag) + " is not allowed");
        keep(mark, builder_.begin(std::move(empty)));
        levels_.push_back({map, true});
    }
    void end() {
        builder_.end();
        levels_.pop_back();
        value_done();
    }

    TreeBuilder<Json> builder_;
    std::vector<Level> levels_;
};

// Whether a text must be quoted to stay one when the YAML is read back.
bool looks_like_another_type(const std::string& text) {
    return is_core_null(text) || is_core_true(text) || is_core_false(text) || is_core_special_float(text) ||
           is_core_float(text) || text.starts_with("0x") || text.starts_with("0o");
}

// Plain only where no reader, this one or of YAML 1.1 (yes, 1:30, 2024-01-01), could take the text for
// anything else.
bool is_plain(const std::string& text) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const auto letter = [&](char c) { return (c & 0x80) != 0 || letters.find(c) != std::string_view::npos; };
    if (looks_like_another_type(text) || text.find_first_not_of("0123456789:.-+_eE") == std::string::npos)
        return false;
    for (const std::string_view word :
         {"yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "y", "Y", "n", "N"})
        if (text == word) return false;
    if (!letter(text.front()) && text.front() != '/' && text.front() != '_') return false;
    if (text.back() == ' ' || text.back() == ':' || text.find(": ") != std::string::npos) return false;
    // Spaces and line ends beyond ASCII, and the byte order mark.
    for (const std::string_view odd : {"\xc2", "\xe2\x80", "\xef\xbb\xbf"})
        if (text.find(odd) != std::string::npos) return false;
    return std::all_of(text.begin(), text.end(), [&](char c) {
        return letter(c) || std::string_view("_-./:+=@() ").find(c) != std::string_view::npos;
    });
}

void emit_text(YAML::Emitter& out, const std::string& text) {
    if (!is_plain(text)) out << YAML::DoubleQuoted;
    out << text;
}

template <class Tree>
void emit(YAML::Emitter& out, const Tree& tree) {
    switch (tree.type()) {
        case nlohmann::detail::value_t::object:
            if (tree.empty()) out << YAML::Flow;
            out << YAML::BeginMap;
            for (const auto& [key, value] : tree.items()) {
                out << YAML::Key;
                emit_text(out, key);
                out << YAML::Value;
                emit(out, value);
            }
            out << YAML::EndMap;
            break;
        case nlohmann::detail::value_t::array: {
            // Short lists of simple things on one line, as people write them.
            bool simple = tree.size() <= 16;
            for (const auto& value : tree) simple = simple && !value.is_structured();
            if (simple) out << YAML::Flow;
            out << YAML::BeginSeq;
            for (const auto& value : tree) emit(out, value);
            out << YAML::EndSeq;
            break;
        }
        case nlohmann::detail::value_t::string:
            emit_text(out, tree.template get_ref<const std::string&>());
            break;
        case nlohmann::detail::value_t::null: out << YAML::Null; break;
        default: out << tree.dump();
    }
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::size_t bytes_max) {
    return parse_json_as<Json>(text, bytes_max);
}

Result<Json> parse_yaml(std::string_view text, std::size_t bytes_max) {
    CRATER_TRY_VOID(check_text(text, bytes_max));
    // yaml-cpp takes some control characters for the end of the text.
    std::size_t line = 1;
    for (const char c : text) {
        line += c == '\n' ? 1 : 0;
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f)
            return fail(Code::invalid, place(line, 1) + "control characters are not allowed");
    }
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        YamlEvents events;
        if (!parser.HandleNextDocument(events)) return Json::object();
        Json tree = events.take();
        YamlEvents second;
        if (parser.HandleNextDocument(second)) return fail(Code::invalid, "more than one document");
        return tree;
    } catch (const YamlRefused& refused) {
        return fail(Code::invalid, refused.message);
    } catch (const YAML::Exception& e) {
        return fail(Code::invalid, place(static_cast<std::size_t>(e.mark.line + 1),
                                         static_cast<std::size_t>(e.mark.column + 1)) +
                                       "not YAML: " + e.msg);
    }
}

std::string canonical(const Json& tree) { return tree.dump(-1, ' ', false, Json::error_handler_t::replace); }

namespace {
template <class Tree>
std::string yaml_of(const Tree& tree) {
    YAML::Emitter out;
    out.SetIndent(2);
    emit(out, tree);
    return std::string(out.c_str()) + "\n";
}
}  // namespace

std::string to_yaml(const Json& tree) { return yaml_of(tree); }

Result<std::string> yaml_of_json(std::string_view json) {
    CRATER_TRY(tree, parse_json_as<nlohmann::ordered_json>(json, json.size()));
    return yaml_of(tree);
}

namespace detail {

Json tree(const void* object, const Type& type, WriteOptions options) {
    std::string text;
    write(text, object, type, options);
    auto tree = parse_json_as<Json>(text, text.size());
    CRATER_CHECK(tree.has_value(), tree.error().message);  // a description that names a field twice
    return *std::move(tree);
}

}  // namespace detail
}  // namespace crater::codec
