#include <set>

#include "test_world.h"

namespace crater::scheduler {
namespace {

Submit by(std::string name, Role role, std::string tenant, std::string key = {}, std::string task_id = {},
          std::string document = {}) {
    return {.spec = {},
            .actor = {std::move(name), role, std::move(tenant)},
            .idempotency_key = std::move(key),
            .document = std::move(document),
            .task_id = std::move(task_id)};
}

TEST(Admission, the_same_key_and_document_is_the_same_job_another_document_a_conflict) {
    TestWorld w;
    w.add_agent("n1");
    const std::string id = w.submit(gpu_job(), by("ann", Role::admin, "", "k1"));
    EXPECT_EQ(w.submit(gpu_job(), by("ann", Role::admin, "", "k1")), id);
    EXPECT_FALSE((*w.submit_answer)->created);
    EXPECT_EQ(w.submit_error(gpu_job(2), by("ann", Role::admin, "", "k1")).code, Code::conflict);
    EXPECT_NE(w.submit(gpu_job(), by("bob", Role::admin, "", "k1")), id) << "keys are each caller's own";
    w.restart();
    EXPECT_EQ(w.submit(gpu_job(), by("ann", Role::admin, "", "k1")), id);
}

TEST(Admission, a_task_id_is_the_job_and_is_idempotent_by_itself) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    EXPECT_EQ(w.submit(gpu_job(), by("alldata", Role::op, "", "", "train-1", "d1")), "train-1");
    EXPECT_EQ(w.submit(gpu_job(), by("alldata", Role::op, "", "", "train-1", "d1")), "train-1");
    EXPECT_FALSE((*w.submit_answer)->created);
    EXPECT_EQ(w.submit_error(gpu_job(), by("alldata", Role::op, "", "", "train-1", "d2")).code,
              Code::conflict);
    a.finish(a.launches[0]);
    w.run(seconds(1));
    EXPECT_EQ(w.submit(gpu_job(), by("alldata", Role::op, "", "", "train-1", "d1")), "train-1")
        << "also when it has ended";
    EXPECT_EQ(w.submit_error(gpu_job(), by("eve", Role::tenant, "other", "", "train-1", "d1")).code,
              Code::conflict);
    EXPECT_EQ(a.launches.size(), 1u);
}

TEST(Admission, an_array_is_so_many_jobs_and_is_cancelled_by_its_id) {
    TestWorld w;
    FakeAgent& a = w.add_agent("n1");
    JobSpec spec = gpu_job();
    spec.array = 6;
    const std::string first = w.submit(spec, by("ann", Role::admin, "", "k"));
    ASSERT_TRUE(first.ends_with(".0"));
    const std::string array = first.substr(0, first.size() - 2);
    EXPECT_EQ(w.submit(spec, by("ann", Role::admin, "", "k")), first) << "asked again";
    const auto page =
        w.scheduler->read().jobs({.states = {}, .label = "crater.array=" + array}, "id", 100, "");
    ASSERT_TRUE(page);
    EXPECT_EQ(page->total, 6);
    EXPECT_EQ(a.launches.size(), 4u) << "each starts by itself";
    std::set<std::string> indexes;
    for (const auto& launch : a.launches) indexes.insert(launch.env().at("CRATER_ARRAY_INDEX"));
    EXPECT_EQ(indexes, (std::set<std::string>{"0", "1", "2", "3"}));
    ASSERT_TRUE(w.act(array, Action::cancel));
    w.run(seconds(2));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(w.state(array + "." + std::to_string(i)), State::cancelled);
    EXPECT_EQ(w.act(array, Action::cancel).error().code, Code::conflict);
    EXPECT_EQ(w.act("job-none", Action::cancel).error().code, Code::not_found);
}

TEST(Admission, queue_by_name_by_type_and_by_likeness) {
    TestWorld w;
    w.add_agent("n1");
    JobSpec spec = gpu_job();
    EXPECT_EQ(w.job(w.submit(spec))->row().queue, "training");
    spec.type = JobType::batch;
    EXPECT_EQ(w.job(w.submit(spec))->row().queue, "offline");
    EXPECT_EQ(w.job(w.submit(spec))->row().priority, 100);
    EXPECT_TRUE(w.job(w.submit(spec))->row().preemptible);
    spec.queue = "trainin";
    const Error error = w.submit_error(spec);
    EXPECT_EQ(error.field, "queue");
    EXPECT_NE(error.hint.find("training"), std::string::npos);
    spec = gpu_job();
    spec.type = JobType::unset;
    spec.command.argv = {"torchrun", "train.py"};
    const std::string id = w.submit(spec);
    EXPECT_EQ(w.job(id)->row().type, JobType::training);
    EXPECT_FALSE(w.job(id)->notes().empty());
}

TEST(Admission, a_tenant_submits_below_itself_and_up_to_its_priority) {
    TestWorld w;
    w.add_agent("n1");
    EXPECT_EQ(w.job(w.submit(gpu_job(), by("ann", Role::tenant, "research")))->row().tenant, "research");
    JobSpec spec = gpu_job();
    spec.tenant = "research/vision";
    EXPECT_NE(w.submit(spec, by("ann", Role::tenant, "research")), "");
    spec.tenant = "research2";
    EXPECT_EQ(w.submit_error(spec, by("ann", Role::tenant, "research")).code, Code::forbidden);
    spec = gpu_job();
    spec.priority = {900};
    EXPECT_EQ(w.submit_error(spec, by("ann", Role::tenant, "research")).field, "priority");
    EXPECT_NE(w.submit(spec, by("root", Role::admin, "")), "");
    EXPECT_EQ(w.act(w.submit(gpu_job(), by("root", Role::admin, "")), Action::cancel,
                    {"ann", Role::tenant, "research"})
                  .error()
                  .code,
              Code::not_found);
}

TEST(Admission, too_many_waiting_jobs_are_limited) {
    TestWorld w;
    w.add_agent("n1");
    api::QuotaChange change;
    change.max_pending = 2;
    w.scheduler->set_quota("research", change, {}, [](auto r) { EXPECT_TRUE(r); });
    JobSpec spec = gpu_job(4);
    spec.tenant = "research/vision";
    w.submit(spec);  // runs
    w.submit(spec);
    w.submit(spec);
    EXPECT_EQ(w.submit_error(spec).code, Code::limited);
    EXPECT_EQ(w.scheduler->read().quota("research")->pending, 2);
}

TEST(Admission, what_can_never_run_is_refused_at_submit) {
    TestWorld w;
    w.add_agent("n1");
    EXPECT_EQ(w.submit_error(gpu_job(5)).code, Code::unsatisfiable);
    EXPECT_EQ(w.scheduler->read().jobs({}, "", 10, {})->total, 0);
    api::QuotaChange change;
    change.hard.gpu = MilliGpu(1'000);
    w.scheduler->set_quota("default", change, {}, [](auto r) { EXPECT_TRUE(r); });
    EXPECT_EQ(w.submit_error(gpu_job(2)).code, Code::unsatisfiable);
}

TEST(Admission, a_quota_holds_back_and_its_change_lets_go_at_once) {
    TestWorld w;
    w.add_agent("n1");
    api::QuotaChange change;
    change.hard.gpu = MilliGpu(1'000);
    change.hard.cpu = MilliCpu(8'000);
    w.scheduler->set_quota("default", change, {}, [](auto r) { EXPECT_TRUE(r); });
    const std::string first = w.submit(gpu_job()), second = w.submit(gpu_job());
    EXPECT_EQ(w.state(first), State::running);
    EXPECT_EQ(w.state(second), State::pending);
    EXPECT_EQ(w.scheduler->read().quota("default")->used.gpu, MilliGpu(1'000));
    change = {};
    change.hard.gpu = MilliGpu(3'000);
    w.scheduler->set_quota("default", change, {}, [](auto r) { EXPECT_TRUE(r); });
    w.run();
    EXPECT_EQ(w.state(second), State::running);
    EXPECT_EQ(w.scheduler->read().quota("default")->hard.cpu, MilliCpu(8'000))
        << "what the change does not name stays";
}

TEST(Admission, why_and_fit_answer) {
    TestWorld w;
    w.add_agent("n1");
    w.submit(gpu_job(4));
    const std::string id = w.submit(gpu_job(4));
    std::optional<Result<engine::Why>> why;
    w.scheduler->why(id, {}, [&](auto r) { why = std::move(r); });
    ASSERT_TRUE(why && *why);
    EXPECT_NE((*why)->summary, "");
    std::optional<Result<api::FitView>> fit;
    const auto ask = [&](const JobSpec& spec) {
        w.scheduler->fit(spec, {}, [&](auto r) { fit = std::move(r); });
        EXPECT_TRUE(fit && *fit);
    };
    ask(gpu_job(1));
    EXPECT_FALSE((*fit)->fits_now);
    EXPECT_TRUE((*fit)->fits_ever);
    ask(gpu_job(9));
    EXPECT_FALSE((*fit)->fits_ever);
    JobSpec cpu = gpu_job();
    cpu.resources.gpu = {};
    ask(cpu);
    EXPECT_TRUE((*fit)->fits_now);
}

TEST(Tokens, are_told_once_kept_as_hashes_and_revoked) {
    TestWorld w;
    std::optional<Result<api::TokenView>> made;
    w.scheduler->create_token({.name = "ci", .role = Role::tenant, .tenant = "research"}, {},
                              [&](auto r) { made = std::move(r); });
    w.run();
    ASSERT_TRUE(made && *made);
    const std::string secret = (*made)->secret, id = (*made)->id;
    EXPECT_EQ(w.scheduler->read().token_by_hash(sha256_hex(secret))->name, "ci");
    const auto entries = w.store->load("");
    for (const auto& entry : *entries) EXPECT_EQ(entry.value.find(secret), std::string::npos);
    w.restart();
    EXPECT_TRUE(w.scheduler->read().token_by_hash(sha256_hex(secret)).has_value());
    w.scheduler->ensure_token("admin", Role::admin, "given", [&](auto r) { made = std::move(r); });
    w.run();
    w.scheduler->ensure_token("admin", Role::admin, "given", [&](auto r) { made = std::move(r); });
    w.run();
    EXPECT_EQ(w.scheduler->read().tokens().size(), 2u);
    EXPECT_EQ(w.scheduler->read().token_by_hash(sha256_hex("given"))->role, Role::admin);
    w.scheduler->revoke_token(id, {}, [&](auto r) { made = std::move(r); });
    w.run();
    EXPECT_FALSE(w.scheduler->read().token_by_hash(sha256_hex(secret)).has_value());
    w.restart();
    EXPECT_EQ(w.scheduler->read().tokens().size(), 1u);
}

TEST(Admission, a_quota_policy_that_is_not_there_is_refused_by_name) {
    TestWorld bare;
    bare.add_agent("n1");
    JobSpec spec = gpu_job();
    spec.quota_policy = "training-quota";
    const Error none = bare.submit_error(spec);
    EXPECT_EQ(none.code, Code::invalid);
    EXPECT_EQ(none.field, "quota_policy");
    EXPECT_NE(none.hint.find("quota_policies"), std::string::npos) << none.hint;

    Config config;
    config.quota_policies["training-quota"].gpu = MilliGpu(4'000);
    TestWorld w(config);
    w.add_agent("n1");
    spec.quota_policy = "trainin-quota";
    const Error error = w.submit_error(spec);
    EXPECT_NE(error.message.find("trainin-quota"), std::string::npos) << error.message;
    EXPECT_NE(error.hint.find("did you mean \"training-quota\""), std::string::npos) << error.hint;
}

TEST(Admission, a_quota_policy_caps_the_whole_job) {
    Config config;
    Quota& caps = config.quota_policies["small"];
    caps.gpu = MilliGpu(2'000);
    caps.memory = Bytes(3ll << 30);
    TestWorld w(config);
    w.add_agent("n1");
    w.add_agent("n2");
    JobSpec spec = gpu_job(1);
    spec.quota_policy = "small";
    spec.tasks = 2;
    EXPECT_NE(w.submit(spec), "");
    spec.tasks = 3;
    const Error error = w.submit_error(spec);
    EXPECT_EQ(error.code, Code::unsatisfiable);
    EXPECT_EQ(error.field, "resources.gpu.count");
    EXPECT_NE(error.message.find("small"), std::string::npos);
    spec.tasks = 1;
    spec.resources.memory.size = Bytes(4ll << 30);
    EXPECT_EQ(w.submit_error(spec).field, "resources.memory.size");

    std::optional<Result<api::FitView>> fit;
    w.scheduler->fit(spec, {}, [&](Result<api::FitView> r) { fit = std::move(r); });
    w.run();
    ASSERT_TRUE(fit && *fit);
    EXPECT_FALSE((*fit)->fits_ever) << "the dry run says the same";
}

TEST(Admission, what_is_only_kept_is_said_in_the_answer) {
    TestWorld w;
    w.add_agent("n1");
    EXPECT_TRUE(w.job(w.submit(gpu_job()))->notes().empty());
    JobSpec spec = gpu_job();
    spec.min_gpu_utilization_percent = 65;
    spec.resources.disk.io_profile = IoProfile::training;
    spec.resources.disk.io_weight = 200;
    const auto notes = w.job(w.submit(spec))->notes();
    for (const char* field : {"min_gpu_utilization_percent", "io_profile", "io_weight"})
        EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [&](const std::string& n) {
            return n.find(field) != std::string::npos;
        })) << field;
}

}  // namespace
}  // namespace crater::scheduler
