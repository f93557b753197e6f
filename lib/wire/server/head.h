// The head of an answer. No Boost.
#pragma once

#include <string>

#include "crater/wire/http.h"

namespace crater::wire {

enum class Framing {
    length,  // Content-Length of the body
    chunked,
    until_close,
};
// `out` is replaced.
void write_head(std::string& out, const HttpResponse& response, Framing framing, bool keep_alive);

}  // namespace crater::wire
