#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>

#include "crater/wire/http.h"
#include "net/text.h"

namespace crater::wire {

Result<Url> parse_url(std::string_view text) {
    const auto parsed = boost::urls::parse_uri({text.data(), text.size()});
    const auto refuse = [&](std::string why, std::string hint = "for example http://host:8080/path") {
        return fail(Code::invalid, "this is no URL that can be called: " + why, {}, std::move(hint));
    };
    if (parsed.has_error()) return refuse("'" + std::string(text.substr(0, 80)) + "' does not parse");
    const boost::urls::url_view url = *parsed;
    Url out;
    out.scheme = lower({url.scheme().data(), url.scheme().size()});
    const bool plain = out.scheme == "http" || out.scheme == "ws",
               secure = out.scheme == "https" || out.scheme == "wss";
    if (!plain && !secure)
        return refuse("its scheme is '" + out.scheme + "'; http, https, ws and wss are allowed");
    if (url.has_userinfo()) return refuse("it holds a user name", "give credentials apart from the URL");
    out.host = url.host_address();  // decoded, without the brackets of IPv6
    if (out.host.empty()) return refuse("it names no host");
    out.port = secure ? 443 : 80;
    if (const auto port = url.port(); url.has_port() && !port.empty()) {
        unsigned number = 0;  // Boost lets 99999 wrap
        const auto [end, ec] = std::from_chars(port.data(), port.data() + port.size(), number);
        if (ec != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535)
            return refuse("its port is not between 1 and 65535");
        out.port = static_cast<std::uint16_t>(number);
    }
    out.target = std::string(url.encoded_path());
    if (out.target.empty()) out.target = "/";
    if (url.has_query()) out.target += "?" + std::string(url.encoded_query());
    return out;
}

}  // namespace crater::wire
