#include "test_certificate.h"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdio>

namespace crater::wire {

TestCertificate::TestCertificate() {
    std::string pattern = (std::filesystem::temp_directory_path() / "crater-wire-XXXXXX").string();
    CRATER_CHECK(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;

    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* cert = X509_new();
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_set_pubkey(cert, key);
    X509_NAME* name = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("crater test"), -1, -1, 0);
    X509_set_issuer_name(cert, name);
    for (const auto& [nid, value] : {std::pair(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1"),
                                     std::pair(NID_basic_constraints, "critical,CA:TRUE")}) {
        X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
        X509_add_ext(cert, extension, -1);
        X509_EXTENSION_free(extension);
    }
    CRATER_CHECK(X509_sign(cert, key, EVP_sha256()) > 0);

    std::FILE* out = std::fopen(files().certificate.c_str(), "w");
    PEM_write_X509(out, cert);
    std::fclose(out);
    out = std::fopen(files().key.c_str(), "w");
    PEM_write_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(out);
    X509_free(cert);
    EVP_PKEY_free(key);
}

}  // namespace crater::wire
