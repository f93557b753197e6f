// The REST surface of the scheduler, declared once (routes.cc): path, roles, parameters, schemas. Handlers
// are bound by `operation` in services/scheduler; a test proves that each has one. SPEC 10.4.
#pragma once

#include <span>

#include "crater/model/tenant.h"
#include "crater/wire/route.h"

namespace crater::api {

std::span<const wire::Route> routes();
constexpr wire::RoleSet role_bit(Role role) { return 1u << static_cast<unsigned>(role); }
std::string openapi_document();

}  // namespace crater::api
