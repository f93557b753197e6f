// Real plugins in real processes: what is right is asked, what is wrong is refused or quarantined with a
// sentence, and decisions go on without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "crater/plugin/registry.h"
#include "loaded.h"

namespace crater::plugin {
namespace {

namespace fs = std::filesystem;
using engine::HookAnswer;

// Time stands still unless the test moves it; how long a process is waited for is the machine's time.
struct TestClock final : Clock {
    std::int64_t us = 1'000'000;
    Instant now() const override { return {1'700'000'000'000 + us / 1000}; }
    std::int64_t ticks_us() const override { return us; }
};

class Plugins : public testing::Test {
  protected:
    Plugins() : folder_(fs::temp_directory_path() / ("crater-plugins-" + std::to_string(::getpid()))) {
        fs::remove_all(folder_);
        fs::create_directory(folder_);
        job_.id = "job-1", job_.tenant = "team", job_.queue = "training";
        spec_.resources.gpu.count = MilliGpu(2000);
        spec_.labels = {{"team", "vision"}};
    }
    ~Plugins() override { fs::remove_all(folder_); }

    // As people install: the new file takes the place of the old one.
    void install(const std::string& from, const std::string& name) {
        fs::copy_file(from, folder_ / "incoming");
        fs::rename(folder_ / "incoming", folder_ / (name + ".so"));
    }
    void faulty(const std::string& fault) {
        install(std::string(CRATER_FAULTY_PLUGINS) + "/" + fault + ".so", fault);
    }
    void example(const std::string& name) {
        install(std::string(CRATER_EXAMPLE_PLUGINS) + "/" + name + ".so", name);
    }
    void write(const std::string& file, const std::string& text) { std::ofstream(folder_ / file) << text; }

    // Patience enough for a busy machine; a test about lateness takes less.
    Registry& registry() {
        if (!registry_) registry_ = std::make_unique<Registry>(options(), clock_);
        return *registry_;
    }
    Options options() const {
        return {.folder = folder_.string(),
                .host = CRATER_PLUGIN_HOST,
                .budget = budget_,
                .loading_max = Millis(60'000)};
    }
    void settle() { registry().settle(Millis(60'000)); }

    NodeInventory& node(const std::string& name) {
        auto& inventory = *inventories_.emplace_back(std::make_unique<NodeInventory>());
        inventory.name = name;
        return inventory;
    }
    // `cards` of a model; `links` joins the first so many with each other.
    NodeInventory& gpu_node(const std::string& name, const std::string& model, int cards, int links) {
        NodeInventory& inventory = node(name);
        for (int c = 0; c < cards; ++c) {
            Gpu gpu{.index = c, .model = model, .memory = Mebibytes(40960)};
            for (int peer = 0; c < links && peer < links; ++peer)
                if (peer != c) gpu.nvlink_peers.push_back(peer);
            inventory.gpus.push_back(std::move(gpu));
        }
        return inventory;
    }
    void show(const NodeInventory& inventory, engine::Neighbours neighbours = {},
              engine::NodeBook book = {}) {
        nodes_.push_back(engine::view_of(inventory, book, neighbours, 0.5));
    }
    HookAnswer ask(const std::string& name) {
        engine::PlacementHook* hook = registry().find(name);
        if (!hook) return {};
        job_.spec = std::make_shared<JobSpec>(spec_);
        return hook->ask({&job_, JobType::training, 1}, nodes_);
    }
    Row row(const std::string& name) {
        for (const Row& row : registry().rows())
            if (row.name == name) return row;
        ADD_FAILURE() << "no plugin " << name;
        return {};
    }
    // A faulty plugin is asked once, and is then quarantined.
    std::string why_quarantined(const std::string& fault) {
        faulty(fault);
        settle();
        EXPECT_EQ(row(fault).state, State::active) << row(fault).reason;
        if (nodes_.empty()) show(node("n1")), show(node("n2"));
        EXPECT_FALSE(ask(fault).given);
        EXPECT_EQ(row(fault).state, State::quarantined);
        EXPECT_EQ(registry().find(fault), nullptr);
        return row(fault).reason;
    }
    std::string why_refused(const std::string& fault) {
        faulty(fault);
        settle();
        EXPECT_EQ(row(fault).state, State::refused);
        EXPECT_EQ(registry().find(fault), nullptr);
        return row(fault).reason;
    }

    fs::path folder_;
    TestClock clock_;
    Millis budget_{60'000};
    std::unique_ptr<Registry> registry_;
    engine::EngineJob job_;
    JobSpec spec_;
    std::vector<std::unique_ptr<NodeInventory>> inventories_;
    std::vector<engine::NodeView> nodes_;
};

// ---- the examples

TEST_F(Plugins, spread_tenant_prefers_nodes_with_few_tasks_of_the_tenant) {
    example("spread_tenant");
    settle();
    show(node("full"), {.of_tenant = 3});
    show(node("empty"), {.of_tenant = 0});
    const auto answer = ask("spread_tenant");
    ASSERT_TRUE(answer.given) << row("spread_tenant").reason;
    EXPECT_EQ(answer.score, (std::vector<double>{0.25, 1}));
    EXPECT_EQ(row("spread_tenant").version, "1.0");
    EXPECT_EQ(row("spread_tenant").calls, 1);
}

TEST_F(Plugins, spread_tenant_turns_away_nodes_that_are_full_by_its_configuration) {
    example("spread_tenant");
    write("spread_tenant.conf", "max_per_node = 2\n");
    settle();
    show(node("full"), {.of_tenant = 2});
    show(node("one"), {.of_tenant = 1});
    const auto answer = ask("spread_tenant");
    EXPECT_EQ(answer.keep, (std::vector<std::uint8_t>{0, 1}));
    EXPECT_EQ(answer.score, (std::vector<double>{0, 0.5}));
}

TEST_F(Plugins, a_configuration_that_is_wrong_is_refused_in_the_plugins_own_words) {
    example("spread_tenant");
    write("spread_tenant.conf", "many = yes\n");
    settle();
    EXPECT_EQ(row("spread_tenant").reason,
              "create returned 1: the configuration is one line: max_per_node = NUMBER");
}

TEST_F(Plugins, nvlink_first_prefers_the_fastest_links_among_free_cards) {
    example("nvlink_first");
    settle();
    show(gpu_node("h100", "h100-sxm5-80gb", 2, 2));
    show(gpu_node("a100", "a100-sxm4-40gb", 4, 2));
    show(gpu_node("alone", "a100-sxm4-40gb", 2, 0));
    engine::NodeBook busy;
    busy.cards.resize(4);
    busy.cards[0].exclusive = true;  // one end of the only link
    show(gpu_node("busy", "a100-sxm4-40gb", 4, 2), {}, busy);
    const auto answer = ask("nvlink_first");
    ASSERT_TRUE(answer.given) << row("nvlink_first").reason;
    EXPECT_TRUE(answer.keep.empty());
    EXPECT_DOUBLE_EQ(answer.score[0], 1);
    EXPECT_NEAR(answer.score[1], 2.0 / 3, 1e-9);
    EXPECT_EQ(answer.score[2], 0);
    EXPECT_EQ(answer.score[3], 0);
}

// ---- replacing

TEST_F(Plugins, a_replaced_file_takes_over_while_decisions_go_on) {
    faulty("works");
    settle();
    show(node("n1")), show(node("n2"));
    EXPECT_EQ(ask("works").keep, (std::vector<std::uint8_t>{1, 1}));
    write("works.conf", "n2");
    registry().refresh();  // the new version is on its way; the old one answers
    EXPECT_TRUE(ask("works").given);
    settle();
    EXPECT_EQ(ask("works").keep, (std::vector<std::uint8_t>{0, 1}));
    faulty("works");  // another inode with the same content
    EXPECT_TRUE(registry().settle(Millis(60'000)));
    EXPECT_EQ(row("works").calls, 0);  // of this version
    EXPECT_FALSE(registry().refresh());
}

TEST_F(Plugins, a_file_overwritten_in_place_does_not_disturb_the_running_plugin) {
    faulty("works");
    settle();
    show(node("n1"));
    write("works.so", "not any more");
    EXPECT_TRUE(ask("works").given);
    settle();
    EXPECT_TRUE(ask("works").given);
    EXPECT_EQ(row("works").reason, "its new file is refused: it is not a shared object");
}

TEST_F(Plugins, a_quarantined_plugin_gets_a_new_chance_when_its_file_changes) {
    why_quarantined("segfaults");
    install(std::string(CRATER_FAULTY_PLUGINS) + "/segfaults.so", "segfaults");
    EXPECT_TRUE(registry().settle(Millis(60'000)));
    EXPECT_EQ(row("segfaults").state, State::active);
    EXPECT_EQ(row("segfaults").reason, "");
}

TEST_F(Plugins, a_plugin_is_gone_with_its_file) {
    faulty("works");
    settle();
    fs::remove(folder_ / "works.so");
    EXPECT_TRUE(registry().refresh());
    EXPECT_EQ(registry().find("works"), nullptr);
    EXPECT_TRUE(registry().rows().empty());
}

// ---- faults

TEST_F(Plugins, a_crash_is_its_own) {
    EXPECT_EQ(why_quarantined("segfaults"), "it crashed: Segmentation fault (signal 11)");
    EXPECT_EQ(why_quarantined("aborts"), "it crashed: Aborted (signal 6)");
    EXPECT_EQ(why_quarantined("exits"), "it ended itself with status 3");
}

TEST_F(Plugins, a_hook_that_hangs_is_late_three_times_and_then_killed) {
    budget_ = Millis(20);
    faulty("hangs");
    settle();
    show(node("n1"));
    EXPECT_FALSE(ask("hangs").given);
    EXPECT_FALSE(ask("hangs").given);  // not waited for again
    EXPECT_EQ(row("hangs").late, 1);
    EXPECT_EQ(row("hangs").calls, 1);
    clock_.us += 201'000;
    EXPECT_FALSE(ask("hangs").given);
    EXPECT_EQ(row("hangs").late, 2);
    EXPECT_EQ(row("hangs").state, State::active);
    clock_.us += 201'000;
    registry().refresh();
    EXPECT_EQ(row("hangs").state, State::quarantined);
    EXPECT_EQ(row("hangs").reason, "it did not answer within 20ms, 3 times");
}

TEST_F(Plugins, a_late_answer_is_not_taken_for_that_of_the_next_question) {
    budget_ = Millis(1);
    faulty("sleeps");
    settle();
    show(node("n1"));
    EXPECT_FALSE(ask("sleeps").given);
    auto* hook = dynamic_cast<Loaded*>(registry().find("sleeps"));
    ASSERT_NE(hook, nullptr);
    hook->wait_for_late_answer(Millis(60'000));
    EXPECT_FALSE(ask("sleeps").given);  // asked anew, and late anew
    EXPECT_EQ(row("sleeps").calls, 2);
    EXPECT_EQ(row("sleeps").late, 2);
}

TEST_F(Plugins, a_score_is_a_number_from_zero_to_one) {
    EXPECT_EQ(why_quarantined("scores_nan"),
              "it scored the node n2 with nan; a score is a number from 0 to 1");
    EXPECT_EQ(why_quarantined("scores_two"),
              "it scored the node n1 with 2.000000; a score is a number from 0 to 1");
}

TEST_F(Plugins, a_hook_that_says_it_failed_is_believed) {
    EXPECT_EQ(why_quarantined("returns_five"), "filter returned 5");
}

TEST_F(Plugins, what_it_does_to_the_shared_memory_is_its_own) {
    faulty("scribbles");
    settle();
    show(node("n1"));
    for (int i = 0; i < 3; ++i) {
        const auto answer = ask("scribbles");
        if (!answer.given) continue;
        EXPECT_EQ(answer.keep.size(), 1u);
        EXPECT_EQ(answer.score, (std::vector<double>{0.5}));
    }
}

TEST_F(Plugins, one_that_closes_its_connection_and_stays_is_ended) {
    EXPECT_EQ(why_quarantined("shuts_up"), "it closed its connection, or was killed");
}

TEST_F(Plugins, one_that_eats_memory_is_its_own_victim) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer needs more memory than a plugin may have";
#endif
    EXPECT_THAT(why_quarantined("hungry"), testing::StartsWith("it crashed"));
}

// ---- what is no plugin

TEST_F(Plugins, what_is_no_plugin_is_refused_with_a_sentence) {
    write("text.so", "hello\n");
    settle();
    EXPECT_EQ(row("text").state, State::refused);
    EXPECT_EQ(row("text").reason, "it is not a shared object");
    EXPECT_EQ(why_refused("no_symbol"), "it does not export crater_plugin");
    EXPECT_EQ(why_refused("other_version"),
              "it was built for version 99 of the plugin interface; this is version 1");
    EXPECT_EQ(why_refused("other_name"),
              "it calls itself \"somebody_else\"; a file is called like its plugin: other_name");
    EXPECT_EQ(why_refused("no_hooks"), "it has neither filter nor score");
    EXPECT_EQ(why_refused("refuses"), "create returned 7: the moon is in the wrong phase");
    EXPECT_EQ(why_refused("crashes_loading"), "it crashed: Aborted (signal 6) while it was loaded");
}

TEST_F(Plugins, an_object_cut_short_is_refused) {
    faulty("works");
    for (const std::size_t size : {1000, 40}) {
        fs::resize_file(folder_ / "works.so", size);
        settle();
        EXPECT_EQ(row("works").state, State::refused);
        EXPECT_THAT(row("works").reason, testing::AnyOf(testing::StartsWith("it cannot be loaded: "),
                                                        testing::EndsWith(" while it was loaded")));
        EXPECT_THAT(row("works").reason, testing::Not(testing::HasSubstr("/proc/")));
    }
}

TEST_F(Plugins, one_that_hangs_while_it_is_loaded_is_given_up) {
    faulty("hangs_loading");
    registry().refresh();
    EXPECT_EQ(row("hangs_loading").state, State::loading);
    clock_.us += 61'000'000;
    registry().refresh();
    EXPECT_EQ(row("hangs_loading").reason, "it was not loaded within 1m");
}

TEST_F(Plugins, what_anyone_may_write_is_not_run) {
    faulty("works");
    ::chmod((folder_ / "works.so").c_str(), 0666);
    settle();
    EXPECT_EQ(row("works").reason, "anyone may write to it; take that right away (chmod o-w)");
}

TEST_F(Plugins, without_the_host_program_plugins_are_refused) {
    faulty("works");
    Options without = options();
    without.host = "/nowhere/crater-plugin-host";
    registry_ = std::make_unique<Registry>(without, clock_);
    settle();
    EXPECT_EQ(row("works").reason, "cannot run /nowhere/crater-plugin-host: No such file or directory");
}

TEST_F(Plugins, an_older_descriptor_has_no_hooks_where_it_ends) {
    faulty("shorter");
    settle();
    show(node("n1"));
    const auto answer = ask("shorter");
    ASSERT_TRUE(answer.given) << row("shorter").reason;
    EXPECT_EQ(answer.keep.size(), 1u);
    EXPECT_TRUE(answer.score.empty());
}

TEST_F(Plugins, a_missing_folder_holds_none) {
    fs::remove_all(folder_);
    EXPECT_FALSE(registry().refresh());
    EXPECT_TRUE(registry().rows().empty());
}

TEST_F(Plugins, more_than_the_memory_holds_is_not_asked) {
    faulty("works");
    settle();
    NodeInventory& huge = node("n1");
    huge.labels["text"] = std::string(shared_bytes, 'x');
    show(huge);
    EXPECT_FALSE(ask("works").given);
    EXPECT_EQ(row("works").state, State::active);
}

}  // namespace
}  // namespace crater::plugin
