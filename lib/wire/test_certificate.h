// A self-signed certificate for 127.0.0.1 and localhost, in files that go with the test.
#pragma once

#include <filesystem>
#include <string>

#include "crater/wire/http.h"

namespace crater::wire {

class TestCertificate {
  public:
    TestCertificate();
    TestCertificate(const TestCertificate&) = delete;
    ~TestCertificate() { std::filesystem::remove_all(folder_); }
    TlsFiles files() const { return {folder_ + "/cert.pem", folder_ + "/key.pem"}; }

  private:
    std::string folder_;
};

}  // namespace crater::wire
