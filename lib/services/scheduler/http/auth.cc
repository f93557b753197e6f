// Who calls, and whether the route is theirs. SPEC 10.4.
#include "api_impl.h"
#include "crater/base/ids.h"

namespace crater::scheduler {
namespace {

std::string roles_in_words(wire::RoleSet roles) {
    std::string words;
    for (const auto& row : enum_names(Role{}))
        if (roles & api::role_bit(row.value)) words += (words.empty() ? "" : ", ") + std::string(row.name);
    return words;
}

bool loopback_address(const std::string& address) {
    return address == "localhost" || address == "::1" || address == "[::1]" || address.starts_with("127.");
}

}  // namespace

Result<Actor> HttpApi::Impl::authenticate(const wire::HttpRequest& request) const {
    auto header = request.headers.find("authorization");
    if (header == request.headers.end()) {
        // Without any token the scheduler listens on loopback only, and whoever is there is the admin.
        if (scheduler_.read().tokens().empty() && request.loopback) return Actor{};
        return fail(Code::unauthenticated, "a bearer token is needed", "",
                    "send the header Authorization: Bearer TOKEN");
    }
    if (!header->second.starts_with("Bearer ") && !header->second.starts_with("bearer "))
        return fail(Code::unauthenticated, "the Authorization header is not a bearer token", "",
                    "send Authorization: Bearer TOKEN");
    auto token = scheduler_.read().token_by_hash(sha256_hex(std::string_view(header->second).substr(7)));
    if (!token)
        return fail(Code::unauthenticated, "this token is not known", "", "crater token create makes one");
    if (token->expires && token->expires < clock_.now())
        return fail(Code::unauthenticated, "this token ended at " + format(token->expires), "",
                    "crater token create makes one");
    return Actor{token->name, token->role, token->tenant};
}

Result<void> HttpApi::Impl::authorise(const wire::Route& route, const Actor& actor) {
    if (route.roles & api::role_bit(actor.role)) return {};
    return fail(Code::forbidden,
                std::string(route.method) + " " + std::string(route.path) + " is not for the role " +
                    std::string(name_of(actor.role)),
                "", "it is for: " + roles_in_words(route.roles));
}

bool HttpApi::Impl::may_see(const Actor& actor, const std::string& tenant) {
    return actor.role != Role::tenant || tenant == actor.tenant || tenant.starts_with(actor.tenant + "/");
}

Result<JobRecordPtr> HttpApi::Impl::visible_job(const Call& call, const std::string& id) const {
    JobRecordPtr job = scheduler_.read().job(id);
    if (job && may_see(call.actor, job->tenant())) return job;
    if (const JobRecordPtr first = scheduler_.read().job(id + ".0");
        first && may_see(call.actor, first->tenant()))
        return fail(Code::not_found, "\"" + id + "\" is an array of jobs", "id",
                    "ask for one of them, such as " + first->id());
    return fail(Code::not_found, "there is no job \"" + id + "\"", "id", "GET /api/v1/jobs lists them");
}

Result<void> check_listen(const Config& config, bool has_tokens) {
    const std::string address = config.listen.substr(0, config.listen.rfind(':'));
    if (has_tokens || config.tls || loopback_address(address)) return {};
    return fail(Code::invalid,
                "\"" + config.listen + "\" is open to others, but there is no token and no TLS", "listen",
                "listen on 127.0.0.1, or start with --admin-token-file");
}

}  // namespace crater::scheduler
