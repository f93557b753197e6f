#include <gtest/gtest.h>

#include "crater/scheduler/http_api.h"

namespace crater::scheduler {

TEST(HttpApi, serves_every_declared_route) { EXPECT_EQ(HttpApi::unserved_routes(), ""); }

TEST(HttpApi, without_token_and_tls_only_loopback_is_listened_on) {
    Config config;
    config.listen = "0.0.0.0:8080";
    EXPECT_FALSE(check_listen(config, false));
    EXPECT_TRUE(check_listen(config, true));
    config.listen = "127.0.0.1:8080";
    EXPECT_TRUE(check_listen(config, false));
}

}  // namespace crater::scheduler
