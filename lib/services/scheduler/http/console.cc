// The built console: plain files below one folder, the application's page for every other path a browser asks
// for.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api_impl.h"

namespace crater::scheduler {
namespace {

const char* content_type_of(const std::string& extension) {
    static const std::map<std::string, const char*> types = {{".html", "text/html; charset=utf-8"},
                                                             {".js", "text/javascript; charset=utf-8"},
                                                             {".css", "text/css; charset=utf-8"},
                                                             {".svg", "image/svg+xml"},
                                                             {".json", "application/json"},
                                                             {".png", "image/png"},
                                                             {".ico", "image/x-icon"},
                                                             {".woff2", "font/woff2"},
                                                             {".map", "application/json"}};
    auto found = types.find(extension);
    return found == types.end() ? "application/octet-stream" : found->second;
}

bool reserved(const std::string& path) {
    for (const char* prefix :
         {"/api/", "/alldata/", "/healthz", "/health", "/readyz", "/metrics", "/openapi.json"})
        if (path.starts_with(prefix)) return true;
    return false;
}

}  // namespace

bool HttpApi::Impl::serve_console(const wire::HttpRequest& request,
                                  const wire::ResponderPtr& responder) const {
    if (reserved(request.path)) return false;
    if (request.method != "GET" && request.method != "HEAD") {
        if (request.path != "/" && request.path != "/dashboard" && request.path != "/dashboard/")
            return false;
        wire::HttpResponse refused =
            wire::error_response({Code::invalid, request.method + " is not possible on " + request.path, "",
                                  "possible: GET, HEAD"});
        refused.status = 405;
        refused.headers.emplace_back("Allow", "GET, HEAD");
        responder->send(std::move(refused));
        return true;
    }
    if (request.path == "/dashboard/") {  // the page's assets are relative to /
        responder->send({.status = 308,
                         .body = {},
                         .content_type = "text/plain",
                         .headers = {{"Location", "../dashboard"}}});
        return true;
    }
    const bool page = request.path == "/" || request.path == "/dashboard";
    if (config_.console_dir.empty()) {
        if (!page) return false;
        responder->send(
            {.body = "The console is not built here. The API is under /api/v1, described in /openapi.json.\n",
             .content_type = "text/plain",
             .headers = {}});
        return true;
    }
    const std::filesystem::path root = std::filesystem::path(config_.console_dir);
    const std::filesystem::path relative =
        std::filesystem::path(page ? "index.html" : request.path.substr(1)).lexically_normal();
    if (relative.is_absolute() || relative.string().starts_with("..")) return false;
    std::ifstream file(root / relative, std::ios::binary);
    if (!file || std::filesystem::is_directory(root / relative)) return false;
    std::stringstream content;
    content << file.rdbuf();
    wire::HttpResponse response{.body = std::move(content).str(),
                                .content_type = content_type_of(relative.extension().string()),
                                .headers = {}};
    // Names of built assets carry a hash of their content; the page that names them must be fresh.
    response.headers.emplace_back("Cache-Control", relative.string().starts_with("assets/")
                                                       ? "public, max-age=31536000, immutable"
                                                       : "no-cache");
    response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    responder->send(std::move(response));
    return true;
}

}  // namespace crater::scheduler
