#include "crater/codec/binary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crater/base/clock.h"
#include "crater/codec/codec.h"
#include "sample_test.h"

namespace crater::codec {
namespace {

using sample::Job;

std::string hex(std::string_view bytes) {
    std::string out;
    for (const unsigned char c : bytes) {
        out += "0123456789abcdef"[c >> 4];
        out += "0123456789abcdef"[c & 15];
    }
    return out;
}

TEST(Binary, any_struct_comes_back_the_same) {
    sample::Maker maker(11);
    for (int i = 0; i < 3000; ++i) {
        const Job job = maker.job();
        const std::string bytes = write_binary(job);
        ASSERT_TRUE(is_binary(bytes));
        const auto back = read_binary<Job>(bytes);
        ASSERT_TRUE(back) << back.error().text();
        ASSERT_TRUE(*back == job) << write_json(job, {.reveal = true});
        ASSERT_EQ(write_binary(*back), bytes);
        ASSERT_FALSE(is_binary(write_json(job)));
    }
}

TEST(Binary, every_struct_of_the_tests_can_be_kept) {
    EXPECT_EQ(binary_problems<Job>(), std::vector<std::string>());
}

// Values as this version wrote them, byte by byte: stores hold such, so a change here needs a new number of
// the form.
struct EachForm {
    std::string text = "ab";
    std::int64_t below = -2;
    std::uint64_t above = 300;
    double real = 1.5;
    sample::Profile profile = sample::Profile::model_loading;
    std::vector<std::int64_t> list = {1, -1};
    std::map<std::string, std::string> map = {{"k", "v"}};
    sample::Mount mount{"/a", "", true};
};
template <class V>
void describe(V& v, EachForm& e) {
    v.field("text", e.text, "");
    v.field("below", e.below, "");
    v.field("above", e.above, "");
    v.field("real", e.real, "");
    v.field("profile", e.profile, "");
    v.field("list", e.list, "");
    v.field("map", e.map, "");
    v.field("mount", e.mount, "");
}

TEST(Binary, the_form_stays_what_stores_hold) {
    // text, below, above, real, profile, list, map, mount with its source and read_only
    const std::string held =
        "01"
        "4abd32"
        "026162"
        "70e177"
        "03"
        "c05d71"
        "ac02"
        "015250"
        "000000000000f83f"
        "eae4d5"
        "0d6d6f64656c2d6c6f6164696e67"
        "a2dbc0"
        "0400020201"
        "5e9e41"
        "06020101"
        "6b0176"
        "6699a3"
        "0a"
        "ae128a"
        "022f61"
        "78c75c"
        "01";
    EXPECT_EQ(hex(write_binary(EachForm{})), held);
}

// A value taken apart and put together again, against reading and writing it whole.
TEST(Binary, parts_are_found_without_reading_the_rest) {
    EachForm whole;
    const std::string bytes = write_binary(whole);
    EXPECT_EQ(*binary_text(bytes, {"text"}), "ab");
    EXPECT_EQ(*binary_text(bytes, {"nothing of this name"}), "");
    EXPECT_EQ(*binary_text(bytes, {"mount", "source"}), "/a");
    EXPECT_EQ(*binary_text(bytes, {"nothing of this name", "source"}), "");
    const auto mount = binary_part(bytes, "mount");
    ASSERT_TRUE(mount && *mount);
    EXPECT_EQ(**mount, write_binary(whole.mount));
    EXPECT_FALSE(binary_part(bytes, "nothing of this name")->has_value());

    constexpr std::string_view unwanted[] = {"mount", "list", "real", "nothing of this name"};
    const auto less = binary_without(bytes, unwanted);
    ASSERT_TRUE(less);
    EXPECT_FALSE(binary_part(*less, "mount")->has_value());
    const auto read = read_binary<EachForm>(*less);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->map, whole.map);
    constexpr std::string_view last[] = {"mount"};
    EXPECT_EQ(binary_with(*binary_without(bytes, last), "mount", **mount), bytes);
}

TEST(Binary, parts_of_what_is_no_value_are_an_error) {
    const std::string bytes = write_binary(EachForm{});
    constexpr std::string_view unwanted[] = {"text"};
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto cut = std::string_view(bytes).substr(0, size);
        const auto less = binary_without(cut, unwanted);
        EXPECT_EQ(less.has_value(), read_binary<EachForm>(cut).has_value()) << size;
        EXPECT_EQ(binary_part(cut, "mount").has_value(), less.has_value()) << size;
        EXPECT_EQ(binary_text(cut, {"text"}).has_value(), less.has_value()) << size;
    }
    EXPECT_FALSE(binary_text(R"({"text": "ab"})", {"text"}));
}

struct Old {
    std::string name;
    std::int64_t count = 3;
    std::vector<sample::Mount> gone;
    bool flag = false;
};
template <class V>
void describe(V& v, Old& o) {
    v.field("name", o.name, "Name.");
    v.field("gone", o.gone, "Not in the new one.");
    v.field("count", o.count, "Count.");
    v.field("flag", o.flag, "Flag.");
}
struct New {
    bool flag = false;
    std::string added = "as before";
    std::int64_t count = 7;
    std::string name;
};
template <class V>
void describe(V& v, New& n) {
    v.field("flag", n.flag, "Flag.");
    v.field("added", n.added, "Not in the old one.");
    v.field("count", n.count, "Count.", {.minimum = 0, .maximum = 1000});
    v.field("name", n.name, "Name.");
}

TEST(Binary, fields_may_be_added_removed_and_put_in_another_order) {
    const Old old{"x", 3, {{"a", "b", true}, {}}, true};
    const auto now = read_binary<New>(write_binary(old));
    ASSERT_TRUE(now) << now.error().text();
    EXPECT_EQ(now->name, "x");
    EXPECT_EQ(now->count, 3) << "the default of then, which was written";
    EXPECT_TRUE(now->flag);
    EXPECT_EQ(now->added, "as before");
    const auto back = read_binary<Old>(write_binary(*now));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->name, "x");
    EXPECT_TRUE(back->gone.empty());
}

TEST(Binary, zero_is_kept_where_it_is_not_the_default) {
    Old old{"", 0, {}, false};
    EXPECT_EQ(read_binary<Old>(write_binary(old))->count, 0);
    New now{.added = ""};
    EXPECT_EQ(read_binary<New>(write_binary(now))->added, "");
}

struct Other {
    std::string count = "three";
};
template <class V>
void describe(V& v, Other& o) {
    v.field("count", o.count, "A text here.");
}
struct Strings {
    std::vector<std::string> mounts = {"a"};
};
template <class V>
void describe(V& v, Strings& o) {
    v.field("mounts", o.mounts, "Texts here.");
}
struct Numbers {
    std::vector<std::int64_t> mounts = {1};
};
template <class V>
void describe(V& v, Numbers& o) {
    v.field("mounts", o.mounts, "Numbers here.");
}

TEST(Binary, what_cannot_be_read_is_named_with_its_path) {
    EXPECT_EQ(read_binary<New>(write_binary(Other{})).error().text(),
              "count: the stored field has another type");
    EXPECT_EQ(read_binary<Strings>(write_binary(Numbers{})).error().text(),
              "mounts: the stored items have another type");
    EXPECT_EQ(read_binary<New>(write_binary(Old{"", 2000, {}, false})).error().text(),
              "count: found 2000; allowed: 0 to 1000");
    EXPECT_EQ(read_binary<New>("").error().text(), "the value is empty");
    EXPECT_EQ(read_binary<New>("\x02").error().text(),
              "the value has form 2; this program reads form 1 (use the version of Crater that wrote it)");
    std::string bytes = write_binary(Old{"x", 3, {}, false});
    bytes += bytes.substr(1);
    EXPECT_EQ(read_binary<New>(bytes).error().text(), "name: the field is there twice");

    Job job;
    job.spare.emplace();
    job.spare->io_profile = sample::Profile::training;
    bytes = write_binary(job);
    bytes[bytes.find("training")] = 'T';
    EXPECT_EQ(
        read_binary<Job>(bytes).error().text(),
        "spare.io_profile: found \"Training\"; allowed: training, model-loading (did you mean \"training\"?)");
    job = {};
    job.named["k"].source = "/a";
    job.mounts.resize(2);
    job.mounts[1].source = "/b";
    bytes = write_binary(job);
    ASSERT_EQ(bytes[bytes.find("/b") - 1], 2);
    bytes[bytes.find("/b") - 1] = 3;
    EXPECT_EQ(read_binary<Job>(bytes).error().text(),
              "mounts[1]: the bytes end within a value or are none of ours");
}

// Torn at every place, with any bit turned, and bytes of nobody: a value or an error with words, and never
// more than that.
TEST(Binary, any_bytes_give_a_value_or_an_error) {
    sample::Maker maker(12);
    SeededRng rng(13);
    int values = 0, errors = 0;
    SharedPool pool;
    const auto look = [&](const std::string& bytes) {
        const auto read = read_binary<Job>(bytes, &pool);
        if (read) {
            ++values;
        } else {
            ++errors;
            ASSERT_FALSE(read.error().message.empty());
            ASSERT_EQ(read.error().code, Code::invalid);
        }
    };
    for (int i = 0; i < 60; ++i) {
        const std::string bytes = write_binary(maker.job());
        for (std::size_t size = 0; size < bytes.size(); ++size) look(bytes.substr(0, size));
        for (int j = 0; j < 2000; ++j) {
            std::string turned = bytes;
            for (std::uint64_t k = 0, n = 1 + rng.below(3); k < n; ++k)
                turned[rng.below(turned.size())] = static_cast<char>(rng.below(256));
            look(turned);
        }
    }
    for (int i = 0; i < 20'000; ++i) {
        std::string bytes("\x01");
        for (std::uint64_t k = 0, n = rng.below(200); k < n; ++k) bytes += static_cast<char>(rng.below(256));
        look(bytes);
    }
    EXPECT_GT(values, 1000);
    EXPECT_GT(errors, 1000);
}

TEST(Binary, a_count_that_lies_takes_no_memory) {
    std::string bytes = write_binary(Numbers{});
    // key, length, form, count, one number
    ASSERT_EQ(bytes.size(), 8u);
    bytes = bytes.substr(0, 4) + std::string("\x07\x00\xff\xff\xff\xff\x0f\x02", 8);
    EXPECT_EQ(read_binary<Numbers>(bytes).error().field, "mounts");
}

struct Owner {
    std::string id;
    std::shared_ptr<const sample::Disk> disk;
};
template <class V>
void describe(V& v, Owner& o) {
    v.field("id", o.id, "Id.");
    v.field("disk", o.disk, "Disk.");
}

TEST(Binary, equal_shared_parts_become_one_object) {
    sample::Disk disk;
    disk.iops = Iops(5);
    const Owner a{"a", std::make_shared<sample::Disk>(disk)}, b{"b", std::make_shared<sample::Disk>(disk)};
    disk.iops = Iops(6);
    const Owner c{"c", std::make_shared<sample::Disk>(disk)}, none{"none", nullptr},
        zero{"zero", std::make_shared<sample::Disk>()};
    SharedPool pool;
    const auto read = [&](const Owner& owner) { return *read_binary<Owner>(write_binary(owner), &pool); };
    const Owner a2 = read(a), b2 = read(b);
    Owner c2 = read(c);
    EXPECT_EQ(a2.disk, b2.disk);
    EXPECT_NE(a2.disk, c2.disk);
    EXPECT_EQ(*a2.disk, *a.disk);
    EXPECT_EQ(*c2.disk, *c.disk);
    EXPECT_EQ(read(none).disk, nullptr);
    ASSERT_NE(read(zero).disk, nullptr);
    EXPECT_EQ(pool.objects(), 2u) << "what nobody holds is forgotten";
    c2 = {};
    EXPECT_EQ(pool.objects(), 1u);
    for (int i = 0; i < 1000; ++i) {
        disk.iops = Iops(1000 + i);
        EXPECT_EQ(read({"d", std::make_shared<sample::Disk>(disk)}).disk->iops.value, 1000 + i);
    }
    EXPECT_EQ(pool.objects(), 1u);
    EXPECT_EQ(read(b).disk, a2.disk);
    EXPECT_NE(read_binary<Owner>(write_binary(a))->disk, a2.disk) << "without a pool nothing is shared";
    // The same struct as a document.
    EXPECT_EQ(write_json(none), R"({"id":"none"})");
    Owner changed = a2;
    ASSERT_TRUE(read_into(changed, *parse_json(R"({"disk":{"iops":9}})")));
    EXPECT_EQ(changed.disk->iops.value, 9);
    EXPECT_EQ(b2.disk->iops.value, 5) << "others keep theirs";
}

struct Clash {
    std::optional<int> preset = 4;
    Old inner{.name = "preset"};
};
template <class V>
void describe(V& v, Clash& c) {
    v.field("preset", c.preset, "An optional with a default.");
    v.field("inner", c.inner, "Other defaults than its own.");
}

TEST(Binary, says_what_it_cannot_keep) {
    EXPECT_EQ(binary_problems<Clash>(),
              (std::vector<std::string>{"preset: is optional and has a default",
                                        "inner: has other defaults here than by itself"}));
}

}  // namespace
}  // namespace crater::codec
