#include <filesystem>

#include "tiny_test.h"

namespace crater::replay {
namespace {

TEST(Trace, servers_stand_in_order_of_their_rank) {
    const Trace trace = TinyTrace().read();
    ASSERT_EQ(trace.servers.size(), 3u);
    EXPECT_EQ(trace.servers[0].name, "b");
    EXPECT_EQ(trace.servers[1].name, "c");
    EXPECT_EQ(trace.servers[2].name, "a");
    EXPECT_EQ(trace.gpu(), 7000);
    EXPECT_EQ(trace.models[static_cast<std::size_t>(trace.servers[0].model)], "G2");
}

TEST(Trace, equal_pods_are_one_request_and_arrive_by_the_number_in_their_name) {
    const Trace trace = TinyTrace().read();
    EXPECT_EQ(trace.pods.size(), 6u);
    EXPECT_EQ(trace.requests.size(), 5u);
    ASSERT_EQ(trace.arrivals.size(), 6u);
    const auto request = [&](std::size_t i) {
        return trace.requests[static_cast<std::size_t>(trace.arrivals[i])];
    };
    EXPECT_EQ(request(0).cards, 2);
    EXPECT_TRUE(request(1).shares_card());
    EXPECT_EQ(trace.arrivals[1], trace.arrivals[3]);
    EXPECT_EQ(request(5).per_card, 1000);  // more than a card is a card
}

TEST(Trace, a_pod_without_cards_accepts_any_server_and_unknown_models_accept_none) {
    const Trace trace = TinyTrace().read();
    const auto accepts = [&](std::size_t i) {
        return trace.requests[static_cast<std::size_t>(trace.pods[i])].accepts;
    };
    EXPECT_EQ(accepts(3), ~std::uint64_t{0});
    EXPECT_EQ(accepts(2), 2u);  // G2 is the second model seen
    EXPECT_EQ(accepts(4), 1u);
    EXPECT_EQ(accepts(5), 0u);
}

TEST(Trace, gpu_spec_may_be_absent) {
    TinyTrace tiny;
    tiny.pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\r\npod-0,1000,1,1,1000\r\n";
    tiny.arrivals = "arrival 1 0\nrank 1 0 1 2\n";
    EXPECT_EQ(tiny.read(1).requests.at(0).accepts, ~std::uint64_t{0});
}

struct Broken {
    const char* what;
    std::string TinyTrace::*file;
    const char *from, *to;
    const char *field, *message;
};
class BrokenTrace : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenTrace, is_named_with_its_place_and_what_is_needed) {
    TinyTrace tiny;
    std::string& file = tiny.*GetParam().file;
    const auto at = file.find(GetParam().from);
    ASSERT_NE(at, std::string::npos);
    file.replace(at, std::string(GetParam().from).size(), GetParam().to);
    const auto answer = tiny.parse();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::invalid);
    EXPECT_EQ(answer.error().field, GetParam().field);
    EXPECT_NE(answer.error().message.find(GetParam().message), std::string::npos) << answer.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Trace, BrokenTrace,
    ::testing::Values(
        Broken{"column", &TinyTrace::servers, "gpu,", "cards,", "servers.csv", "no column gpu"},
        Broken{"number", &TinyTrace::servers, "64000", "64 cores", "servers.csv line 3",
               "cpu_milli is \"64 cores\""},
        Broken{"cards", &TinyTrace::servers, "4,G2", "9,G2", "servers.csv line 3", "from 0 to 8"},
        Broken{"short_line", &TinyTrace::pods, "8000,16384,2,1000,G2,LS", "8000", "pods.csv line 4",
               "memory_mib is \"\""},
        Broken{"parts_of_two", &TinyTrace::pods, "2,1000,G2", "2,500,G2", "pods.csv line 4",
               "500 milli of 2 cards"},
        Broken{"name", &TinyTrace::pods, "pod-0002", "two", "pods.csv line 4", "must end with -NUMBER"},
        Broken{"twice", &TinyTrace::pods, "pod-0002", "pod-1", "pods.csv line 4",
               "second pod has the number 1"},
        Broken{"line", &TinyTrace::arrivals, "rank 8", "ranks 8", "arrivals.txt line 4",
               "\"rank SEED\" is needed"},
        Broken{"word", &TinyTrace::arrivals, "4 1 3", "4 x 3", "arrivals.txt line 1", "value 4 is \"x\""},
        Broken{"unknown_pod", &TinyTrace::arrivals, "4 1 3", "4 5 3", "arrivals.txt",
               "pod 5, which is not in pods.csv"},
        Broken{"ranks", &TinyTrace::arrivals, "rank 7 2 0 1", "rank 7 2 0", "arrivals.txt",
               "2 ranks of seed 7; servers.csv has 3"},
        Broken{"rank_twice", &TinyTrace::arrivals, "rank 7 2 0 1", "rank 7 2 0 2", "arrivals.txt",
               "rank 2 of seed 7"},
        Broken{"seed", &TinyTrace::arrivals, "arrival 7", "arrival 6", "seed",
               "no arrivals for seed 7 in arrivals.txt; it has 6, 8"}),
    [](const auto& of) { return of.param.what; });

TEST(Trace, a_missing_folder_is_said) {
    const auto answer = read_trace({.folder = "/nowhere/at/all", .arrivals = ""});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().field, "trace");
    EXPECT_NE(answer.error().message.find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace crater::replay
