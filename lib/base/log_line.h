// How a line of the log is put together, apart from where it goes.
#pragma once

#include <string>
#include <string_view>

#include "crater/base/log.h"
#include "crater/base/quantity.h"

namespace crater::log {

std::string json_line(Instant time, Level level, std::string_view component, std::string_view message,
                      const Fields& fields);
std::string human_line(Instant time, Level level, std::string_view message, const Fields& fields);

}  // namespace crater::log
