#include "crater/base/quantity.h"

#include <gtest/gtest.h>

#include "crater/base/clock.h"

namespace crater {
namespace {

constexpr std::int64_t mebi = 1 << 20, gibi = 1 << 30;

TEST(ParseBytes, takes_every_spelling_of_the_contract) {
    const std::vector<std::pair<std::string, std::int64_t>> cases{{"0", 0},
                                                                  {"1048576", mebi},
                                                                  {"40Gi", 40 * gibi},
                                                                  {"40GiB", 40 * gibi},
                                                                  {"40gi", 40 * gibi},
                                                                  {"512MB", 512'000'000},
                                                                  {"512M", 512'000'000},
                                                                  {"1.5T", 1'500'000'000'000},
                                                                  {"1.5k", 1500},
                                                                  {"2 GB", 2'000'000'000},
                                                                  {"7b", 7},
                                                                  {"1.0000000001Ki", 1025},
                                                                  {"9223372036854775807", INT64_MAX},
                                                                  {"8191Pi", 8191LL << 50}};
    for (const auto& [text, value] : cases) {
        const auto got = parse_bytes(text);
        ASSERT_TRUE(got) << text << got.error().text();
        EXPECT_EQ(got->value, value) << text;
    }
}

TEST(ParseBytes, refuses_what_is_not_an_amount) {
    for (const char* text : {"",
                             " ",
                             "-1",
                             "+1",
                             "nan",
                             "inf",
                             "1e3",
                             "0x10",
                             "16Gx",
                             "Gi",
                             "1.Gi",
                             ".5Gi",
                             "1..5",
                             "16 ",
                             " 16",
                             "1  Gi",
                             "16Gi ",
                             "9223372036854775808",
                             "8192Pi",
                             "99999999999999999999",
                             "1.0000000000000000001",
                             "4Gi4",
                             "12é"}) {
        const auto got = parse_bytes(text);
        ASSERT_FALSE(got) << text;
        EXPECT_EQ(got.error().code, Code::invalid);
        EXPECT_FALSE(got.error().message.empty());
    }
    EXPECT_NE(parse_bytes("16Gx").error().message.find("\"16Gx\""), std::string::npos);
    EXPECT_NE(parse_bytes("16Gx").error().message.find("allowed"), std::string::npos);
}

TEST(ParseGpuMemory, counts_mib_for_every_decimal_spelling_and_rounds_up) {
    for (const char* text : {"16Gi", "16G", "16GB", "16GiB", "16gb", "16384", "16384MB", "16384Mi", "16384m"})
        EXPECT_EQ(parse_gpu_memory(text)->value, 16384) << text;
    EXPECT_EQ(parse_gpu_memory("1b")->value, 1);
    EXPECT_EQ(parse_gpu_memory("1.5")->value, 2);
    EXPECT_EQ(parse_gpu_memory("1025Ki")->value, 2);
    EXPECT_EQ(parse_gpu_memory("0.5Gi")->value, 512);
    EXPECT_FALSE(parse_gpu_memory("-16Gi"));
    EXPECT_FALSE(parse_gpu_memory("16P"));
}

TEST(ParseCpu, goes_in_steps_of_a_tenth) {
    EXPECT_EQ(parse_cpu("8")->value, 8000);
    EXPECT_EQ(parse_cpu("0.5")->value, 500);
    EXPECT_EQ(parse_cpu("500m")->value, 500);
    EXPECT_EQ(parse_cpu("1.50")->value, 1500);
    for (const char* text : {"0.05", "250m", "8 ", "8c", "-1", "1.2345", "0.5m", "m", ""})
        EXPECT_FALSE(parse_cpu(text)) << text;
    EXPECT_EQ(parse_milli("1.234").value(), 1234);
}

TEST(ParseGpu, takes_fractions_only_below_one) {
    EXPECT_EQ(parse_gpu("4")->value, 4000);
    EXPECT_EQ(parse_gpu("0.5")->value, 500);
    EXPECT_EQ(parse_gpu("500m")->value, 500);
    EXPECT_EQ(parse_gpu("2.0")->value, 2000);
    for (const char* text : {"1.5", "1500m", "0.55", "0.01", "-1", "1e2"})
        EXPECT_FALSE(parse_gpu(text)) << text;
    EXPECT_FALSE(check_request(MilliGpu(1500), "resources.gpu.count"));
    EXPECT_EQ(check_request(MilliGpu(1500), "resources.gpu.count").error().field, "resources.gpu.count");
}

TEST(ParseBandwidth, counts_gigabytes_when_bare) {
    EXPECT_EQ(parse_bandwidth("140")->value, 140'000'000'000);
    EXPECT_EQ(parse_bandwidth("142.3")->value, 142'300'000'000);
    EXPECT_EQ(parse_bandwidth("140GB/s")->value, 140'000'000'000);
    EXPECT_EQ(parse_bandwidth("500MB/s")->value, 500'000'000);
    EXPECT_EQ(parse_bandwidth("1GiB/s")->value, gibi);
    for (const char* text : {"140/s", "140Gbps", "-1", "/s", "GB/s", "1GB/s/s", ""})
        EXPECT_FALSE(parse_bandwidth(text)) << text;
}

TEST(ParseDuration, takes_every_spelling_of_the_contract) {
    const std::vector<std::pair<std::string, std::int64_t>> cases{{"30s", 30'000},
                                                                  {"10m", 600'000},
                                                                  {"2h", 7'200'000},
                                                                  {"1d", 86'400'000},
                                                                  {"1h30m", 5'400'000},
                                                                  {"500ms", 500},
                                                                  {"1s500ms", 1500},
                                                                  {"01:00:00", 3'600'000},
                                                                  {"2-00:00:01", 172'801'000},
                                                                  {"100:00:00", 360'000'000},
                                                                  {"90", 90'000},
                                                                  {"0", 0},
                                                                  {"0s", 0},
                                                                  {"1.5h", 5'400'000},
                                                                  {"0.5", 500},
                                                                  {"0.0001s", 1}};
    for (const auto& [text, value] : cases) {
        const auto got = parse_duration(text);
        ASSERT_TRUE(got) << text << got.error().text();
        EXPECT_EQ(got->count(), value) << text;
    }
    for (const char* text : {"", "s", "-30s", "30x", "30m1h", "1h1h", "1h30", "01:00", "01:60:00", "1:2:3",
                             "00:00:00:00", "-01:00:00", "1h 30m", "nan", "36501d", "99999999999999999999s",
                             "9223372036854775807", "999999-00:00:00"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(ParseInstant, reads_rfc_3339_and_nothing_else) {
    EXPECT_EQ(parse_instant("2024-05-20T10:00:00Z")->ms, 1716199200000);
    EXPECT_EQ(parse_instant("2024-05-20T12:00:00.1239+02:00")->ms, 1716199200123);
    EXPECT_EQ(parse_instant("2024-05-20t02:30:00.5-07:30")->ms, 1716199200500);
    EXPECT_EQ(parse_instant("2024-02-29T00:00:00Z")->ms, 1709164800000);
    for (const char* text :
         {"", "2024-05-20", "2024-05-20T10:00:00", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z",
          "2024-05-20T24:00:00Z", "2024-05-20T10:00Z", "2024-05-20T10:00:00.Z", "2024-05-20T10:00:00+2:00",
          "2024-05-20T10:00:00Zx", "1716199200"})
        EXPECT_FALSE(parse_instant(text)) << text;
}

TEST(ParseNumber, is_finite_and_whole_text) {
    EXPECT_EQ(parse_number("0.75").value(), 0.75);
    EXPECT_EQ(parse_number("-2e3").value(), -2000);
    for (const char* text : {"", "nan", "inf", "1e999", "1,5", "1 ", " 1", "0x1"})
        EXPECT_FALSE(parse_number(text)) << text;
}

TEST(Format, writes_what_people_write) {
    EXPECT_EQ(format(Bytes(512 * gibi)), "512Gi");
    EXPECT_EQ(format(Bytes(1024 * gibi)), "1Ti");
    EXPECT_EQ(format(Bytes(1536 * mebi)), "1536Mi");
    EXPECT_EQ(format(Bytes(1000)), "1000");
    EXPECT_EQ(format(Bytes(0)), "0");
    EXPECT_EQ(format(Mebibytes(16384)), "16Gi");
    EXPECT_EQ(format(Mebibytes(500)), "500Mi");
    EXPECT_EQ(format(MilliCpu(8000)), "8");
    EXPECT_EQ(format(MilliCpu(500)), "0.5");
    EXPECT_EQ(format(MilliCpu(1005)), "1.005");
    EXPECT_EQ(format(MilliGpu(-1500)), "-1.5");
    EXPECT_EQ(format(BytesPerSecond(142'300'000'000)), "142.3GB/s");
    EXPECT_EQ(format(BytesPerSecond(500'000'000)), "500MB/s");
    EXPECT_EQ(format(BytesPerSecond(12)), "12B/s");
    EXPECT_EQ(format(Millis(5'400'000)), "1h30m");
    EXPECT_EQ(format(Millis(30'000)), "30s");
    EXPECT_EQ(format(Millis(500)), "500ms");
    EXPECT_EQ(format(Millis(0)), "0s");
    EXPECT_EQ(format(Millis(86'400'000)), "1d");
    EXPECT_EQ(format(Instant{1716199200123}), "2024-05-20T10:00:00.123Z");
    EXPECT_EQ(format(Instant{}), "");
}

// Amounts of all sizes: a random number of random bits.
std::int64_t amount(Rng& rng, int bits) {
    return static_cast<std::int64_t>(rng.next() >> (64 - 1 - rng.below(static_cast<std::uint64_t>(bits))));
}

TEST(Format, is_read_back_exactly) {
    SeededRng rng(1);
    for (int i = 0; i < 20'000; ++i) {
        const Bytes bytes(amount(rng, 62));
        EXPECT_EQ(parse_bytes(format(bytes)).value(), bytes);
        const Mebibytes mebibytes(amount(rng, 40));
        EXPECT_EQ(parse_gpu_memory(format(mebibytes)).value(), mebibytes);
        const BytesPerSecond bandwidth(amount(rng, 50));
        EXPECT_EQ(parse_bandwidth(format(bandwidth)).value(), bandwidth);
        const MilliCpu cpu(amount(rng, 40));
        EXPECT_EQ(parse_milli(format(cpu)).value(), cpu.value);
        const Millis span(amount(rng, 40));
        EXPECT_EQ(parse_duration(format(span)).value(), span);
        const Instant instant{1 + amount(rng, 46)};
        EXPECT_EQ(parse_instant(format(instant)).value(), instant);
    }
}

TEST(Parsers, survive_any_text) {
    SeededRng rng(2);
    constexpr std::string_view letters = "0123456789.-:+eEGMKTPimshdwBZ/ \xff";
    for (int i = 0; i < 50'000; ++i) {
        std::string text;
        for (auto n = rng.below(12); n > 0; --n) text += letters[rng.below(letters.size())];
        {
            const auto v = parse_bytes(text);
            EXPECT_TRUE(!v || v->value >= 0) << text;
        }
        {
            const auto v = parse_gpu_memory(text);
            EXPECT_TRUE(!v || v->value >= 0) << text;
        }
        {
            const auto v = parse_cpu(text);
            EXPECT_TRUE(!v || v->value >= 0) << text;
        }
        {
            const auto v = parse_gpu(text);
            EXPECT_TRUE(!v || v->value >= 0) << text;
        }
        {
            const auto v = parse_bandwidth(text);
            EXPECT_TRUE(!v || v->value >= 0) << text;
        }
        {
            const auto v = parse_duration(text);
            EXPECT_TRUE(!v || v->count() >= 0) << text;
        }
        (void)parse_instant(text);
        (void)parse_number(text);
    }
}

}  // namespace
}  // namespace crater
