// Known GPU models. Memory is nominal: what nvidia-smi would say with ECC off. A card's own driver wins over
// it. Tensor precisions are those that the tensor cores compute in; Hopper and later have no int4.
#include <algorithm>
#include <cctype>
#include <span>

#include "crater/hw/source.h"
#include "tree.h"

namespace crater::hw {
namespace {

constexpr std::string_view volta = "fp16", turing = "fp16 int8 int4", ampere = "tf32 bf16 fp16 int8 int4",
                           ada = "tf32 bf16 fp16 fp8 int8 int4", hopper = "tf32 bf16 fp16 fp8 int8",
                           blackwell = "tf32 bf16 fp16 fp8 fp6 fp4 int8";
constexpr std::string_view
    mig_a100_40 =
        "1g.5gb:7:4864 1g.10gb:4:9856 2g.10gb:3:9856 3g.20gb:2:19968 4g.20gb:1:19968 7g.40gb:1:40192",
    mig_a100_80 =
        "1g.10gb:7:9856 1g.20gb:4:19968 2g.20gb:3:19968 3g.40gb:2:40192 4g.40gb:1:40192 7g.80gb:1:80384",
    mig_h100_94 = "1g.12gb:7 1g.24gb:4 2g.24gb:3 3g.47gb:2 4g.47gb:1 7g.94gb:1",
    mig_h200 = "1g.18gb:7:16384 1g.35gb:4:33280 2g.35gb:3:33280 3g.71gb:2 4g.71gb:1 7g.141gb:1:143360",
    mig_h20 = "1g.12gb:7 1g.24gb:4 2g.24gb:3 3g.48gb:2 4g.48gb:1 7g.96gb:1",
    mig_b200 = "1g.23gb:7 1g.45gb:4 2g.45gb:3 3g.90gb:2 4g.90gb:1 7g.180gb:1",
    mig_a30 = "1g.6gb:4:5836 2g.12gb:2:11672 4g.24gb:1:23344";
constexpr std::string_view a100_source = "NVIDIA A100 datasheet, GA100 whitepaper, MIG user guide",
                           h100_source = "NVIDIA H100 datasheet, GH100 whitepaper, MIG user guide",
                           v100_source = "NVIDIA V100 datasheet, GV100 whitepaper",
                           ga102_source = "NVIDIA datasheet, GA102 whitepaper",
                           ad102_source = "NVIDIA datasheet, Ada whitepaper";

constexpr GpuModel models[] = {
    {"a100-pcie-40gb", "NVIDIA A100-PCIE-40GB", 40960, 108, 1555, "8.0", ampere, mig_a100_40, a100_source},
    {"a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB", 40960, 108, 1555, "8.0", ampere, mig_a100_40, a100_source},
    {"a100-pcie-80gb", "NVIDIA A100 80GB PCIe|NVIDIA A100-PCIE-80GB", 81920, 108, 1935, "8.0", ampere,
     mig_a100_80, a100_source},
    {"a100-sxm4-80gb", "NVIDIA A100-SXM4-80GB|NVIDIA A100-SXM-80GB", 81920, 108, 2039, "8.0", ampere,
     mig_a100_80, a100_source},
    {"a800-pcie-80gb", "NVIDIA A800 80GB PCIe", 81920, 108, 1935, "8.0", ampere, mig_a100_80,
     "as A100 PCIe 80GB; NVIDIA A800 product brief"},
    {"a800-sxm4-80gb", "NVIDIA A800-SXM4-80GB", 81920, 108, 2039, "8.0", ampere, mig_a100_80,
     "as A100 SXM 80GB; NVIDIA A800 product brief"},
    {"h100-pcie-80gb", "NVIDIA H100 PCIe", 81920, 114, 2000, "9.0", hopper, mig_a100_80, h100_source},
    {"h100-sxm5-80gb", "NVIDIA H100 80GB HBM3|NVIDIA H100 SXM5 80GB", 81920, 132, 3350, "9.0", hopper,
     mig_a100_80, h100_source},
    {"h100-nvl-94gb", "NVIDIA H100 NVL", 96256, 132, 3900, "9.0", hopper, mig_h100_94, h100_source},
    {"h800", "NVIDIA H800", 81920, 132, 3350, "9.0", hopper, mig_a100_80,
     "as H100 SXM; NVIDIA H800 product brief"},
    {"h800-pcie-80gb", "NVIDIA H800 PCIe", 81920, 114, 2000, "9.0", hopper, mig_a100_80,
     "as H100 PCIe; NVIDIA H800 product brief"},
    {"h20", "NVIDIA H20", 98304, 78, 4000, "9.0", hopper, mig_h20,
     "vendor figures as published by resellers"},
    {"h200-sxm-141gb", "NVIDIA H200|NVIDIA H200 SXM|NVIDIA H200 141GB HBM3e", 144384, 132, 4800, "9.0",
     hopper, mig_h200, "NVIDIA H200 datasheet, MIG user guide"},
    {"b200", "NVIDIA B200", 184320, 148, 8000, "10.0", blackwell, mig_b200,
     "NVIDIA HGX B200 datasheet, MIG user guide; SM count as devices report it"},
    {"a10", "NVIDIA A10", 24576, 72, 600, "8.6", ampere, "", ga102_source},
    {"a30", "NVIDIA A30", 24576, 56, 933, "8.0", ampere, mig_a30, "NVIDIA A30 datasheet, MIG user guide"},
    {"a40", "NVIDIA A40", 49152, 84, 696, "8.6", ampere, "", ga102_source},
    {"l4", "NVIDIA L4", 24576, 58, 300, "8.9", ada, "", ad102_source},
    {"l40", "NVIDIA L40", 49152, 142, 864, "8.9", ada, "", ad102_source},
    {"l40s", "NVIDIA L40S", 49152, 142, 864, "8.9", ada, "", ad102_source},
    {"v100-pcie-16gb", "Tesla V100-PCIE-16GB", 16384, 80, 900, "7.0", volta, "", v100_source},
    {"v100-pcie-32gb", "Tesla V100-PCIE-32GB", 32768, 80, 900, "7.0", volta, "", v100_source},
    {"v100-sxm2-16gb", "Tesla V100-SXM2-16GB", 16384, 80, 900, "7.0", volta, "", v100_source},
    {"v100-sxm2-32gb", "Tesla V100-SXM2-32GB", 32768, 80, 900, "7.0", volta, "", v100_source},
    {"v100s-pcie-32gb", "Tesla V100S-PCIE-32GB", 32768, 80, 1134, "7.0", volta, "", v100_source},
    {"t4", "Tesla T4", 16384, 40, 320, "7.5", turing, "", "NVIDIA T4 datasheet, Turing whitepaper"},
    {"p100-pcie-16gb", "Tesla P100-PCIE-16GB", 16384, 56, 732, "6.0", "", "",
     "NVIDIA P100 datasheet, GP100 whitepaper"},
    {"p100-sxm2-16gb", "Tesla P100-SXM2-16GB", 16384, 56, 732, "6.0", "", "",
     "NVIDIA P100 datasheet, GP100 whitepaper"},
    {"rtx-3090", "NVIDIA GeForce RTX 3090", 24576, 82, 936, "8.6", ampere, "", ga102_source},
    {"rtx-4090", "NVIDIA GeForce RTX 4090", 24576, 128, 1008, "8.9", ada, "", ad102_source},
    {"rtx-a6000", "NVIDIA RTX A6000", 49152, 84, 768, "8.6", ampere, "", ga102_source},
    {"rtx-6000-ada", "NVIDIA RTX 6000 Ada Generation", 49152, 142, 960, "8.9", ada, "", ad102_source},
};

// Without the makers' brands, in lower case, words joined by '-': "Tesla V100-SXM2-16GB" -> "v100-sxm2-16gb".
std::string plain_gpu(std::string_view name) {
    std::string out;
    for (char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '.')
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (!out.empty() && out.back() != '-')
            out += '-';
    }
    while (out.ends_with('-')) out.pop_back();
    for (std::string_view brand : {"nvidia-", "tesla-", "geforce-", "quadro-"})
        if (out.starts_with(brand)) out.erase(0, brand.size());
    return out;
}

}  // namespace

std::span<const GpuModel> known_gpus() { return models; }

const GpuModel* find_gpu(std::string_view name) {
    const auto row =
        std::find_if(std::begin(models), std::end(models), [&](const auto& m) { return m.name == name; });
    return row == std::end(models) ? nullptr : row;
}

std::string normalised_gpu(std::string_view driver_name) {
    const std::string plain = plain_gpu(driver_name);
    for (const auto& model : models)
        for (auto name : words(model.driver_names, "|"))
            if (plain_gpu(name) == plain) return std::string(model.name);
    return plain;
}

}  // namespace crater::hw
