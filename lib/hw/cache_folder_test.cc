#include "cache_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace crater::hw {
namespace {

namespace fs = std::filesystem;

struct HandClock final : Clock {
    Instant at{1'000'000};
    Instant now() const override { return at; }
    std::int64_t ticks_us() const override { return at.ms * 1000; }
};

class Folder : public ::testing::Test {
  protected:
    Folder() : root_(fs::temp_directory_path() / ("crater-cache-" + std::to_string(::getpid()))) {
        fs::remove_all(root_), fs::create_directories(root_);
    }
    ~Folder() override { fs::remove_all(root_); }
    void put(const std::string& name, std::size_t bytes) {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << std::string(bytes, 'x');
    }
    fs::path root_;
    HandClock clock_;
};

TEST_F(Folder, what_has_an_id_for_a_name_is_complete) {
    put("dataset/imagenet/train/0", 100);
    put("dataset/imagenet/val", 20);
    put("dataset/tokens.bin", 7);
    put("dataset/.coming/half", 5);
    put("dataset/not an id/file", 5);
    fs::create_directories(root_ / "dataset/nothing");
    put("model/llama-7b:3/weights", 9);
    put("checkpoint/job-1/step", 9);
    const NodeCache has = CacheFolder(root_.string(), clock_, Millis{60'000}).read();
    EXPECT_EQ(has.datasets, (std::vector<CachedItem>{{"imagenet", Bytes(120)}, {"tokens.bin", Bytes(7)}}));
    EXPECT_EQ(has.models, (std::vector<CachedItem>{{"llama-7b:3", Bytes(9)}}));
}

TEST_F(Folder, tells_once_that_it_holds_something_else) {
    put("dataset/.imagenet/train", 100);
    CacheFolder folder(root_.string(), clock_, Millis{60'000});
    EXPECT_EQ(folder.read(), NodeCache());
    fs::rename(root_ / "dataset/.imagenet", root_ / "dataset/imagenet");
    EXPECT_FALSE(folder.changed()) << "it was looked at just now";
    clock_.at = clock_.at + Millis(30'000);
    EXPECT_TRUE(folder.changed());
    clock_.at = clock_.at + Millis(30'000);
    EXPECT_FALSE(folder.changed());
    fs::remove_all(root_ / "dataset/imagenet");
    clock_.at = clock_.at + Millis(30'000);
    EXPECT_TRUE(folder.changed());
    EXPECT_EQ(folder.read(), NodeCache());
}

TEST_F(Folder, that_is_not_there_holds_nothing) {
    EXPECT_EQ(CacheFolder(root_ / "missing", clock_).read(), NodeCache());
    EXPECT_EQ(CacheFolder("", clock_).read(), NodeCache());
}

}  // namespace
}  // namespace crater::hw
