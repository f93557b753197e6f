// Tokens: the store keeps the hash of the secret, the secret is told once.
#include "crater/base/ids.h"
#include "impl.h"

namespace crater::scheduler {
namespace {

api::TokenView token_view(const Token& token, std::string secret = {}) {
    return {.id = token.id,
            .name = token.name,
            .tenant = token.tenant,
            .secret = std::move(secret),
            .role = token.role,
            .created = token.created,
            .expires = token.expires};
}

}  // namespace

void Scheduler::Impl::create_token(const api::TokenRequest& request, const Actor& actor,
                                   Reply<api::TokenView> reply) {
    if (refuse_when_stopped(reply)) return;
    if (auto good = check_name(request.name, "name"); !good) return reply(fail(std::move(good.error())));
    if (request.role == Role::tenant) {
        if (request.tenant.empty())
            return reply(fail(Code::invalid, "a token of the role tenant names its tenant", "tenant"));
        if (auto good = check_tenant(request.tenant, "tenant"); !good)
            return reply(fail(std::move(good.error())));
        ensure_tenant(request.tenant);
    } else if (!request.tenant.empty()) {
        return reply(fail(Code::invalid, "only a token of the role tenant names a tenant", "tenant"));
    }
    Token token{.id = make_id("token", env_.rng),
                .name = request.name,
                .secret_sha256 = {},
                .role = request.role,
                .tenant = request.tenant,
                .created = now(),
                .expires = {}};
    while (tokens_.contains(token.id)) token.id = make_id("token", env_.rng);
    if (request.expires_in > Millis(0)) token.expires = now() + request.expires_in;
    std::string secret = make_secret(env_.rng);
    token.secret_sha256 = sha256_hex(secret);
    put_token(token);
    audit(actor, "create_token", token.id, token.name + ", " + std::string(name_of(token.role)));
    reply_when_durable<api::TokenView>(
        std::move(reply),
        [view = token_view(token, std::move(secret))]() -> Result<api::TokenView> { return view; });
}

void Scheduler::Impl::put_token(const Token& token) {
    tokens_[token.id] = token;
    write("token/" + token.id, stored_value(token));
    open_.update.tokens.push_back(token);
    wake();
}

void Scheduler::Impl::revoke_token(const std::string& id, const Actor& actor, Reply<api::TokenView> reply) {
    if (refuse_when_stopped(reply)) return;
    const auto it = tokens_.find(id);
    if (it == tokens_.end()) return reply(fail(Code::not_found, "there is no token " + shown(id), "id"));
    const Token token = it->second;
    tokens_.erase(it);
    erase("token/" + id);
    open_.update.removed_tokens.push_back(id);
    audit(actor, "revoke_token", id, token.name);
    reply_when_durable<api::TokenView>(
        std::move(reply), [view = token_view(token)]() -> Result<api::TokenView> { return view; });
}

// The file that holds the secret is the truth: a token of this name with another secret takes the given one.
void Scheduler::Impl::ensure_token(const std::string& name, Role role, const std::string& secret,
                                   Reply<api::TokenView> reply) {
    if (refuse_when_stopped(reply)) return;
    const std::string hash = sha256_hex(secret);
    Token token{.id = {},
                .name = name,
                .secret_sha256 = hash,
                .role = role,
                .tenant = {},
                .created = now(),
                .expires = {}};
    for (const auto& [id, known] : tokens_)
        if (known.name == name && known.role == role) token = known;
    if (token.id.empty() || token.secret_sha256 != hash) {
        if (token.id.empty()) token.id = make_id("token", env_.rng);
        token.secret_sha256 = hash;
        put_token(token);
        audit(Actor{}, "ensure_token", token.id, name);
    }
    reply_when_durable<api::TokenView>(
        std::move(reply), [view = token_view(token)]() -> Result<api::TokenView> { return view; });
}

}  // namespace crater::scheduler
