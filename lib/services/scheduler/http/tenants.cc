#include "api_impl.h"
#include "crater/base/ids.h"

namespace crater::scheduler {
namespace {

api::TokenView view_of_token(const Token& token) {
    return {.id = token.id,
            .name = token.name,
            .tenant = token.tenant,
            .secret = {},
            .role = token.role,
            .created = token.created,
            .expires = token.expires};
}
Error not_yours(const std::string& tenant) {
    return {Code::forbidden, "the tenant " + tenant + " is not yours", "tenant", ""};
}

}  // namespace

void HttpApi::Impl::list_tenants(CallPtr call) {
    answer_page(*call, scheduler_.read().tenants(), "path", [](const Tenant& tenant) { return tenant.path; });
}

void HttpApi::Impl::get_tenant(CallPtr call) {
    const std::string& path = call->parameter("path");
    if (!may_see(call->actor, path)) return call->fail(not_yours(path));
    std::vector<std::string> known;
    for (const Tenant& tenant : scheduler_.read().tenants()) {
        if (tenant.path == path) return call->answer(tenant);
        known.push_back(tenant.path);
    }
    call->fail({Code::not_found, "there is no tenant \"" + path + "\"", "path", nearest(path, known)});
}

void HttpApi::Impl::put_tenant(CallPtr call) {
    auto tenant = body_of<Tenant>(*call);
    const std::string& path = call->parameter("path");
    if (!tenant) return call->fail(tenant.error());
    if (!tenant->path.empty() && tenant->path != path)
        return call->fail({Code::invalid,
                           "\"" + tenant->path + "\" is not the tenant of the path, \"" + path + "\"", "path",
                           ""});
    if (auto valid = check_tenant(path, "path"); !valid) return call->fail(valid.error());
    on_loop([self = shared_from_this(), call, path, tenant = std::move(*tenant)] {
        const api::QuotaChange change{
            .hard = tenant.hard, .max_priority = tenant.max_priority, .max_pending = tenant.max_pending};
        self->scheduler_.set_quota(path, change, call->actor, [call, path](Result<api::QuotaView> view) {
            if (!view) return call->fail(view.error());
            call->answer(Tenant{path, view->hard, view->max_priority, view->max_pending});
        });
    });
}

void HttpApi::Impl::get_quota(CallPtr call) {
    const std::string& tenant = call->parameter("tenant");
    if (!may_see(call->actor, tenant)) return call->fail(not_yours(tenant));
    auto quota = scheduler_.read().quota(tenant);
    if (!quota)
        return call->fail({Code::not_found, "there is no tenant \"" + tenant + "\"", "tenant",
                           "GET /api/v1/tenants lists them"});
    call->answer(*quota);
}

void HttpApi::Impl::put_quota(CallPtr call) {
    auto change = body_of<api::QuotaChange>(*call);
    if (!change) return call->fail(change.error());
    if (auto valid = check_tenant(call->parameter("tenant"), "tenant"); !valid)
        return call->fail(valid.error());
    on_loop([self = shared_from_this(), call, change = std::move(*change)] {
        self->scheduler_.set_quota(call->parameter("tenant"), change, call->actor,
                                   [call](Result<api::QuotaView> view) { call->answer(view); });
    });
}

void HttpApi::Impl::list_tokens(CallPtr call) {
    std::vector<api::TokenView> views;
    for (const Token& token : scheduler_.read().tokens()) views.push_back(view_of_token(token));
    answer_page(*call, std::move(views), "id", [](const api::TokenView& token) { return token.id; });
}

void HttpApi::Impl::create_token(CallPtr call) {
    auto wanted = body_of<api::TokenRequest>(*call);
    if (!wanted) return call->fail(wanted.error());
    if (auto valid = check_name(wanted->name, "name"); !valid) return call->fail(valid.error());
    if (wanted->role == Role::tenant) {
        if (auto valid = check_tenant(wanted->tenant, "tenant"); !valid) return call->fail(valid.error());
    } else if (!wanted->tenant.empty()) {
        return call->fail({Code::invalid, "only a token of the role tenant has a tenant", "tenant",
                           "leave it out, or role: tenant"});
    }
    on_loop([self = shared_from_this(), call, wanted = std::move(*wanted)] {
        self->scheduler_.create_token(wanted, call->actor,
                                      [call](Result<api::TokenView> made) { call->answer(made, 201); });
    });
}

void HttpApi::Impl::revoke_token(CallPtr call) {
    on_loop([self = shared_from_this(), call] {
        self->scheduler_.revoke_token(call->parameter("id"), call->actor,
                                      [call](Result<api::TokenView> gone) { call->answer(gone); });
    });
}

}  // namespace crater::scheduler
