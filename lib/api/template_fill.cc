#include "template_fill.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "crater/base/ids.h"

namespace crater::api {
namespace {

using Json = nlohmann::json;

bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}
// Means the same to a shell in any place.
bool is_plain(std::string_view value) {
    return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
        return is_name(c) || std::string_view("/:@%+,").find(c) != std::string_view::npos;
    });
}

struct Reference {
    std::string name;
    std::size_t length = 0;  // of the whole {{...}}; 0 = there is none here
};
Reference reference_at(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) != "{{") return {};
    const auto close = text.find("}}", at + 2);
    if (close == std::string_view::npos) return {};
    std::string_view name = text.substr(at + 2, close - at - 2);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_name)) return {};
    return {snake_case(name), close + 2 - at};
}

std::string one_word(std::string_view value) {
    std::string out = "'";
    for (const char c : value) c == '\'' ? out += "'\\''" : out += c;
    return out + "'";
}

// Follows a shell over the fixed text of a template: whether a quoted word may stand here. What is read by a
// second shell, or by rules that we do not follow, makes the rest of the text unclear.
class Quotes {
  public:
    explicit Quotes(std::string_view text) {
        for (const std::string_view word : {"eval", "ssh", "<<"})
            unclear_ = unclear_ || text.find(word) != std::string_view::npos;
    }
    void step(std::string_view text, std::size_t at) {
        const char c = text[at];
        if (skip_) {
            skip_ = false;
        } else if (quote_ != 0) {
            if (c == quote_) quote_ = 0;
            skip_ = quote_ == '"' && c == '\\';
        } else if (c == '\\') {
            skip_ = true;
        } else if (c == '\'' || c == '"') {
            quote_ = c;
        } else if (c == '#') {
            unclear_ = true;  // perhaps a comment, with an apostrophe in it
        }
        if (quote_ != '\'' &&
            (c == '`' || (c == '$' && at + 1 < text.size() &&
                          std::string_view("({'\"").find(text[at + 1]) != std::string_view::npos)))
            unclear_ = true;
    }
    bool may_quote() const { return quote_ == 0 && !skip_ && !unclear_; }

  private:
    char quote_ = 0;  // the quote we are in
    bool skip_ = false, unclear_ = false;
};

Result<std::string> fill_text(std::string_view text, bool shell, const References& references,
                              std::string_view task_type) {
    std::string out;
    Quotes quotes(text);
    for (std::size_t at = 0; at < text.size();) {
        const Reference reference = reference_at(text, at);
        if (reference.length == 0) {
            if (shell) quotes.step(text, at);
            out += text[at++];
            continue;
        }
        at += reference.length;
        const auto found = references.find(reference.name);
        if (found == references.end())
            return fail(Code::invalid,
                        "the template of " + shown(task_type) + " needs it, and the document does not say it",
                        reference.name, "add it, or give a command");
        const std::string& value = found->second;
        if (value.find('\0') != std::string::npos) return fail(Code::invalid, "it holds NUL", reference.name);
        if (!shell || is_plain(value)) {
            out += value;
        } else if (quotes.may_quote()) {
            out += one_word(value);
        } else {
            return fail(
                Code::invalid,
                shown(value) + " cannot be quoted safely where the template of " + shown(task_type) +
                    " uses it",
                reference.name,
                "use letters, digits and . _ - / : @ % + , only; or let the template use it outside quotes");
        }
    }
    return out;
}

// Whether argv[at] is text that a shell reads: sh -c TEXT, bash -lc TEXT.
bool read_by_shell(const std::vector<std::string>& argv, std::size_t at) {
    constexpr std::array<std::string_view, 6> shells{"sh", "bash", "dash", "ash", "zsh", "ksh"};
    if (at < 2) return false;
    const std::string_view flag = argv[at - 1];
    if (flag.size() < 2 || flag[0] != '-' || flag[1] == '-' || flag.back() != 'c') return false;
    for (std::size_t i = 0; i + 1 < at; ++i) {
        const std::string_view word = argv[i];
        const std::string_view name =
            word.substr(word.rfind('/') == std::string_view::npos ? 0 : word.rfind('/') + 1);
        if (std::find(shells.begin(), shells.end(), name) != shells.end()) return true;
    }
    return false;
}

void flatten(const Json& tree, const std::string& path, References& out) {
    if (tree.is_object()) {
        for (auto it = tree.begin(); it != tree.end(); ++it) {
            const std::string key = path == "env" || path == "labels" ? it.key() : snake_case(it.key());
            flatten(*it, path.empty() ? key : path + "." + key, out);
        }
    } else if (tree.is_string()) {
        out[path] = tree.get<std::string>();
    } else if (tree.is_primitive() && !tree.is_null()) {
        out[path] = tree.dump();
    }
}

}  // namespace

References references_of(const Json& document) {
    References out;
    flatten(document, "", out);
    References brief;
    for (const std::string_view part : {"model_config.", "data_config.", "task_portrait.", "data_portrait."})
        for (const auto& [path, value] : out)
            if (path.starts_with(part)) brief.emplace(path.substr(part.size()), value);
    if (const auto name = out.find("model_config.name"); name != out.end())
        brief.emplace("model_name", name->second);
    brief.erase("name");
    out.merge(brief);
    return out;
}

Result<Template> fill(const Template& form, const References& references, std::string_view task_type) {
    Template out;
    CRATER_TRY(image, fill_text(form.image, false, references, task_type));
    out.image = std::move(image);
    const auto& argv = form.command.argv;
    for (std::size_t i = 0; i < argv.size(); ++i) {
        CRATER_TRY(word, fill_text(argv[i], read_by_shell(argv, i), references, task_type));
        out.command.argv.push_back(std::move(word));
    }
    for (const auto& [name, value] : form.env) {
        CRATER_TRY(text, fill_text(value, false, references, task_type));
        out.env.emplace(name, std::move(text));
    }
    return out;
}

}  // namespace crater::api
