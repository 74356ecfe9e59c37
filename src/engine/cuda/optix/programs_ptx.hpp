#pragma once

#include <string_view>

namespace rthiss::cuda::optix {

/// programs.cu as PTX, which ends with a zero byte; generated when the library is built.
[[nodiscard]] std::string_view programs_ptx();

}  // namespace rthiss::cuda::optix
