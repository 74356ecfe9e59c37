# Writes OUTPUT, a C++ source that defines NAME as the bytes of PTX with the .version line lowered to VERSION.
#   cmake -DPTX=... -DVERSION=7.0 -DNAME=... -DOUTPUT=... -P embed_ptx.cmake
file(READ ${PTX} text)
string(REGEX MATCH "\n\\.version [0-9]+\\.[0-9]+\n" line "${text}")
if(line STREQUAL "")
  message(FATAL_ERROR "${PTX}: no .version line")
endif()
string(REPLACE "${line}" "\n.version ${VERSION}\n" text "${text}")
file(WRITE ${PTX}.lowered "${text}")
file(READ ${PTX}.lowered bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
file(WRITE ${OUTPUT}
     "#include \"engine/cuda/optix/programs_ptx.hpp\"

namespace rthiss::cuda::optix {

namespace {

constexpr unsigned char kBytes[] = {
    ${bytes}0x00};

}  // namespace

std::string_view ${NAME}() { return {reinterpret_cast<const char*>(kBytes), sizeof kBytes - 1}; }

}  // namespace rthiss::cuda::optix
")
