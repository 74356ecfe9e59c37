#pragma once

/// Marks functions that plain C++ and CUDA compilers both take.
#if defined(__CUDACC__)
#define RTHISS_HOST_DEVICE __host__ __device__
#else
#define RTHISS_HOST_DEVICE
#endif
