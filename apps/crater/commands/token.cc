#include <iostream>

#include "../commands.h"
#include "../print.h"

namespace crater::cli {

void add_token(CLI::App& app, Context& context) {
    auto* token = app.add_subcommand("token", "Who may talk to the scheduler")->require_subcommand(1);

    struct Options {
        std::string name, role = "read-only", tenant, expires_in, id;
    };
    auto options = std::make_shared<Options>();
    auto* create = token->add_subcommand("create", "Make a token; it is shown once");
    create->add_option("--name", options->name, "What it is for")->required();
    create->add_option("--role", options->role, "admin, operator, tenant, read-only or agent-join")
        ->capture_default_str();
    create->add_option("--tenant", options->tenant, "Whose jobs, for the role tenant");
    create->add_option("--expires-in", options->expires_in,
                       "How long it lives, such as 30d; for ever when absent");
    create->callback([&context, options] {
        Json body = {{"name", options->name}, {"role", options->role}};
        if (!options->tenant.empty()) body["tenant"] = options->tenant;
        if (!options->expires_in.empty()) body["expires_in"] = options->expires_in;
        const Json made = need(Client(context).call("POST", "/api/v1/tokens", body.dump()));
        print_answer(context, made, [&] {
            std::cout << text(made, "secret") << "\n";
            std::cerr << "token " << text(made, "id") << " of the role " << text(made, "role")
                      << "; it is not shown again\n";
        });
    });

    auto* revoke = token->add_subcommand("revoke", "End a token at once");
    revoke->add_option("id", options->id, "Token id")->required();
    revoke->callback([&context, options] {
        const Json gone = need(Client(context).call("DELETE", "/api/v1/tokens/" + encoded(options->id), {}));
        print_answer(context, gone, [&] { std::cout << "token " << options->id << " is revoked\n"; });
    });

    token->add_subcommand("list", "All tokens, without their secrets")->callback([&context] {
        const Json page = need(Client(context).get("/api/v1/tokens"));
        print_table(context, page, page["items"],
                    {{"ID", [](const Json& t) { return text(t, "id"); }},
                     {"NAME", [](const Json& t) { return text(t, "name"); }},
                     {"ROLE", [](const Json& t) { return text(t, "role"); }},
                     {"TENANT", [](const Json& t) { return text(t, "tenant"); }},
                     {"CREATED", [](const Json& t) { return text(t, "created"); }},
                     {"EXPIRES", [](const Json& t) { return text(t, "expires"); }}},
                    "no tokens");
    });
}

}  // namespace crater::cli
