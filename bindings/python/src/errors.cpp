#include "errors.hpp"

#include <nanobind/nanobind.h>
#include <rthiss/errors.hpp>

namespace rthiss::python {

namespace {

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const UnsupportedError& error) {
    PyErr_SetString(PyExc_NotImplementedError, error.what());
  } catch (const OutOfMemory& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
  } catch (const IoError& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  } catch (const Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

void register_exceptions() { nanobind::register_exception_translator(translate); }

}  // namespace rthiss::python
