// A stand-in for libcuda.so.1: the driver of a release that this program's CUDA runtime cannot work with.
extern "C" int cuInit(unsigned /*flags*/) { return 0; }
extern "C" int cuDriverGetVersion(int* version) {
  *version = 11040;
  return 0;
}
