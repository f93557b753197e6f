// Every row of test/documents/malformed.jsonl is refused with the promised status and field.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "crater/api/documents.h"
#include "crater/codec/codec.h"

namespace crater::api {
namespace {

using Json = nlohmann::json;

std::string from_hex(const std::string& hex) {
    std::string out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return out;
}

std::string generated(const std::string& how) {
    const auto colon = how.find(':');
    const std::size_t n = std::stoul(how.substr(colon + 1));
    if (how.starts_with("big:")) return R"({"command":["true"],"name":")" + std::string(n, 'x') + "\"}";
    if (how.starts_with("deep:")) return R"({"command":)" + std::string(n, '[') + std::string(n, ']') + "}";
    std::string out = R"({"command":["true"],"env":{)";
    for (std::size_t i = 0; i < n; ++i) out += (i == 0 ? "\"N" : ",\"N") + std::to_string(i) + "\":\"1\"";
    return out + "}}";
}

std::string body_of(const Json& row) {
    if (row.contains("generate")) return generated(row["generate"]);
    if (row.contains("body_hex")) return from_hex(row["body_hex"]);
    return row["body"];
}

Result<void> post(const std::string& to, const std::string& body) {
    if (to == "/api/v1/schedule") {
        CRATER_TRY(request, read_schedule(body, {}));
        return {};
    }
    EXPECT_EQ(to, "/api/v1/jobs");
    CRATER_TRY(tree, codec::parse_json(body));
    CRATER_TRY(spec, read_job(tree));
    return {};
}

TEST(Malformed, is_refused_with_status_and_field) {
    std::ifstream file(CRATER_DOCUMENTS "/malformed.jsonl");
    ASSERT_TRUE(file) << "no table";
    std::size_t rows = 0;
    for (std::string line; std::getline(file, line); ++rows) {
        const Json row = Json::parse(line);
        SCOPED_TRACE(row["name"].get<std::string>());
        const auto answer = post(row["to"], body_of(row));
        if (answer) {
            ADD_FAILURE() << "was accepted";
            continue;
        }
        const Error& error = answer.error();
        EXPECT_EQ(code_row(error.code).http_status, row["status"].get<int>()) << error.text();
        EXPECT_EQ(error.field, row["field"].get<std::string>()) << error.text();
        EXPECT_FALSE(error.message.empty());
        EXPECT_LT(error.text().size(), 4000u) << error.text();
        const std::string hint = row.value("hint", ""), message = row.value("message", "");
        EXPECT_NE(error.hint.find(hint), std::string::npos) << "no " << hint << " in: " << error.hint;
        EXPECT_NE(error.message.find(message), std::string::npos)
            << "no " << message << " in: " << error.message;
    }
    EXPECT_GE(rows, 60u);
}

}  // namespace
}  // namespace crater::api
