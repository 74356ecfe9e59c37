#pragma once

namespace rthiss::python {

/// The library's exceptions become Python's: InvalidArgument ValueError, UnsupportedError NotImplementedError,
/// DeviceError RuntimeError, OutOfMemory MemoryError, IoError OSError.
void register_exceptions();

}  // namespace rthiss::python
