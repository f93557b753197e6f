// Stored values: their form, the older one, and what is damaged.
#include <gtest/gtest.h>

#include "crater/codec/binary.h"
#include "crater/scheduler/stored_json.h"
#include "profiles.h"
#include "records.h"
#include "test_world.h"

namespace crater::scheduler {
namespace {

template <class... T>
std::vector<std::string> problems() {
    std::vector<std::string> all;
    for (const auto& some : {codec::binary_problems<T>()...}) all.insert(all.end(), some.begin(), some.end());
    return all;
}

TEST(Stored, every_stored_object_can_be_kept_in_full) {
    const auto found =
        problems<StoredSpec, StoredStatus, StoredNodeState, StoredQueue, StoredIdempotency, StoredCallback,
                 StoredProfile, NodeInventory, Tenant, Token, engine::Settings>();
    EXPECT_EQ(found, std::vector<std::string>());
}

// Something of everything, through the store's own interface.
void fill_with_work(TestWorld& w) {
    w.add_agent("n1");
    w.add_agent("n2", 2);
    JobSpec odd = gpu_job();
    odd.resources.gpu.count = MilliGpu(500);
    odd.resources.disk.iops_stability_ratio = 0.1;
    odd.env = {{"TOKEN", "s3cret \"quoted\" \n"}};
    odd.labels = {{"team", "vision"}};
    odd.preemptible = false;
    w.submit(odd, {.spec = {},
                   .actor = {"ann", Role::admin, "research/vision"},
                   .idempotency_key = "once",
                   .document = {},
                   .task_id = {}});
    w.submit(gpu_job(2));
    w.submit(gpu_job(4));
    JobSpec gang = gpu_job(0);
    gang.tasks = 3;
    gang.resources.gpu = {};
    w.submit(gang);
    w.scheduler->create_token({.name = "t", .role = Role::admin}, {}, [](auto r) { EXPECT_TRUE(r); });
    api::QuotaChange quota;
    quota.hard.gpu = MilliGpu(2'000);
    w.scheduler->set_quota("research", quota, {}, [](auto r) { EXPECT_TRUE(r); });
    w.run(seconds(1));
}

std::map<std::string, std::string> objects(TestWorld& w) {
    VirtualLoop loop(w.time);
    std::map<std::string, std::string> out;
    const auto entries = store::open_memory(w.disk, loop)->load("");
    for (const auto& entry : *entries) out[entry.key] = entry.value;
    return out;
}
void overwrite(TestWorld& w, std::vector<store::Write> writes) {
    VirtualLoop loop(w.time);
    auto store = store::open_memory(w.disk, loop);
    store->commit({.writes = std::move(writes)}, [](auto r) { EXPECT_TRUE(r); });
    w.run();
}

TEST(Stored, a_store_of_the_older_form_is_recovered_and_rewritten_as_it_changes) {
    TestWorld w;
    fill_with_work(w);
    const auto before = w.scheduler->read().cluster();
    const auto jobs = codec::write_json(*w.scheduler->read().jobs({}, "id", 100, {}));
    w.crash();
    std::vector<store::Write> writes;
    std::size_t binary = 0;
    for (const auto& [key, value] : objects(w)) {
        if (!codec::is_binary(value)) continue;
        ++binary;
        const auto json = stored_json(key, value, true);
        ASSERT_TRUE(json) << key << ": " << json.error().text();
        ASSERT_TRUE(json->starts_with("{")) << key;
        writes.push_back({key, *json});
    }
    EXPECT_GT(binary, 12u);
    overwrite(w, std::move(writes));

    w.start();
    const auto after = w.scheduler->read().cluster();
    EXPECT_TRUE(after.state_hash_verified);
    EXPECT_EQ(after.state_hash, before.state_hash);
    EXPECT_EQ(after.jobs, before.jobs);
    EXPECT_EQ(codec::write_json(*w.scheduler->read().jobs({}, "id", 100, {})), jobs);
    const auto rows = w.scheduler->read().jobs({.states = {State::running}}, "id", 100, {});
    ASSERT_GE(rows->items.size(), 2u);
    const std::string changed = rows->items[0].id, other = rows->items[1].id;
    for (auto& [name, agent] : w.agents) agent->dial(*w.scheduler, *w.loop);
    w.run(seconds(1));
    ASSERT_TRUE(w.act(changed, Action::cancel));
    w.run(seconds(1));
    w.crash();
    const auto now = objects(w);
    EXPECT_TRUE(codec::is_binary(now.at("job/" + changed)));
    EXPECT_FALSE(codec::is_binary(now.at("job/" + other)));
    w.start();
    EXPECT_TRUE(w.scheduler->read().cluster().state_hash_verified);
    EXPECT_EQ(w.state(changed), State::cancelled);
}

TEST(Stored, people_see_json_without_secrets) {
    TestWorld w;
    fill_with_work(w);
    w.crash();
    bool masked = false;
    for (const auto& [key, value] : objects(w)) {
        const auto json = stored_json(key, value);
        ASSERT_TRUE(json) << key;
        EXPECT_EQ(json->find('\x01'), std::string::npos) << key;
        if (key.starts_with("token/")) masked |= json->find("\"***\"") != std::string::npos;
    }
    EXPECT_TRUE(masked);
    EXPECT_EQ(*stored_json("meta/term", "7"), "7");
    EXPECT_EQ(stored_json("nothing/x", "\x01").error().field, "key");
}

TEST(Stored, a_value_that_cannot_be_read_is_named_and_ends_the_start) {
    TestWorld w;
    fill_with_work(w);
    w.crash();
    const auto kept = objects(w);
    int tried = 0, refused = 0;
    for (const auto& [key, value] : kept) {
        if (!codec::is_binary(value)) continue;
        ++tried;
        // Its end is missing.
        overwrite(w, {{key, value.substr(0, value.size() - 1)}});
        VirtualLoop loop(w.time);
        auto store = store::open_memory(w.disk, loop);
        const auto started =
            Scheduler::start(w.config, {.clock = w.time, .loop = loop, .rng = w.rng, .store = *store});
        if (!started) {
            ++refused;
            EXPECT_NE(started.error().message.find("the stored object " + key + " cannot be read"),
                      std::string::npos)
                << started.error().text();
        }
        loop.kill();
        store.reset();
        overwrite(w, {{key, value}});
    }
    EXPECT_GT(tried, 12);
    EXPECT_EQ(refused, tried);
    w.start();
    EXPECT_TRUE(w.scheduler->read().cluster().state_hash_verified);
}

// A status in the older form may be larger than a document that a user sends.
TEST(Stored, the_size_of_a_stored_value_has_no_limit) {
    JobStatus status;
    status.id = "big";
    status.tasks.resize(4096);
    for (std::size_t i = 0; i < status.tasks.size(); ++i) {
        status.tasks[i].index = static_cast<std::int64_t>(i);
        status.tasks[i].detail = std::string(400, 'x');
    }
    StoredStatus stored;
    stored.status = status;
    const std::string json = codec::write_json(stored, {.reveal = true});
    ASSERT_GT(json.size(), codec::document_bytes_max);
    const auto read = stored_object<StoredStatus>(json);
    ASSERT_TRUE(read) << read.error().text();
    const std::string value = stored_value(*read);
    EXPECT_EQ(value, stored_value(stored));
    EXPECT_EQ(stored_object<StoredStatus>(value)->status.tasks.size(), 4096u);
}

// What equal jobs are decided by lies in memory once, also where their names and commands differ.
TEST(Stored, equal_outlines_are_one_object_and_specs_come_back_whole) {
    JobSpec spec = gpu_job();
    spec.env = {{"EPOCHS", "10"}};
    StoredSpec a, b;
    a.id = "a";
    a.spec = spec;
    a.user = "ann";
    a.notes = {"one", "two"};
    b.id = "b";
    b.spec = spec;
    b.spec.name = "another";
    b.spec.command.argv = {"/bin/other"};
    Outlines outlines;
    FixedJob a2, b2;
    ASSERT_TRUE(read_stored_job(stored_value(a), a2, outlines));
    ASSERT_TRUE(read_stored_job(stored_value(b), b2, outlines));
    EXPECT_EQ(a2.outline, b2.outline);
    EXPECT_TRUE(a2.outline->command.argv.empty());
    EXPECT_EQ(codec::write_json(a2.outline->resources), codec::write_json(spec.resources));
    EXPECT_EQ(b2.id, "b");
    EXPECT_EQ(b2.name(), "another");
    EXPECT_EQ(a2.user(), "ann");
    EXPECT_EQ(a2.notes(), a.notes);
    EXPECT_EQ(a2.document_hash(), "");
    EXPECT_EQ(codec::write_json(*a2.spec()), codec::write_json(spec));
    EXPECT_EQ(codec::write_json(*b2.spec()), codec::write_json(b.spec));
    EXPECT_EQ(stored_job(b2), stored_value(b)) << "written as it was read";

    b.spec.resources.cpu.cores = MilliCpu(7'000);
    FixedJob c;
    ASSERT_TRUE(read_stored_job(stored_value(b), c, outlines));
    EXPECT_NE(c.outline, a2.outline);
}

}  // namespace
}  // namespace crater::scheduler
