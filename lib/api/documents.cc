#include "crater/api/documents.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "crater/codec/codec.h"
#include "spelling.h"

namespace crater::api {
namespace {

using Json = nlohmann::json;

bool looks_like_json(std::string_view text) {
    const auto at = text.find_first_not_of(" \t\r\n");
    return at != std::string_view::npos && text[at] == '{';
}

std::string resolved(std::string_view path, std::string_view base_dir) {
    namespace fs = std::filesystem;
    std::string out = (fs::path(base_dir) / fs::path(path)).lexically_normal().string();
    if (out.size() > 1 && out.ends_with('/')) out.pop_back();
    return out;
}

Result<JobSpec> read_unchecked(const Json& tree) {
    if (tree.is_object() && tree.empty())
        return fail(Code::invalid, "the document is empty", "", "a job needs at least a command or an image");
    CRATER_TRY_VOID(refuse_not_offered(tree));
    auto spec = codec::read<JobSpec>(tree);
    if (!spec) spec.error().field = as_written(tree, spec.error().field);
    return spec;
}

Result<JobSpec> checked(JobSpec spec, const Json& tree) {
    if (auto good = validate(spec); !good) {
        good.error().field = as_written(tree, good.error().field);
        return fail(std::move(good.error()));
    }
    return spec;
}

}  // namespace

Result<JobSpec> read_job(const Json& tree) {
    CRATER_TRY(spec, read_unchecked(tree));
    return checked(std::move(spec), tree);
}

Result<JobSpec> read_job_file(std::string_view text, std::string_view base_dir) {
    CRATER_TRY(tree, looks_like_json(text) ? codec::parse_json(text) : codec::parse_yaml(text));
    CRATER_TRY(spec, read_unchecked(tree));
    if (!base_dir.empty() && !spec.working_dir.empty() && !spec.working_dir.starts_with('/'))
        spec.working_dir = resolved(spec.working_dir, base_dir);
    return checked(std::move(spec), tree);
}

}  // namespace crater::api
