# Packages, which gen/deps.sh installs or names. Those after --optional may be missing.

# Matrices over MPI ranks, and FFTW, which is compared with. Debian builds FFTW for Open MPI.
MPI_PACKAGES = openmpi-bin libopenmpi-dev mpich libmpich-dev
# N: the version of the distribution's clang. Any LLVM from 14 up works.
OFFLINE_PACKAGES = clang llvm lld libclc-N llvm-spirv-N spirv-tools
# PNG, JPEG, BMP and TGA pictures for the tool. python3-pil (Pillow) is for tests of these.
PICTURE_PACKAGES = libstb-dev
# clang compiles for every processor: Debian's cross compilers of gcc conflict with gcc-multilib.
FOREIGN_PACKAGES = clang qemu-user binutils-aarch64-linux-gnu binutils-s390x-linux-gnu
MINGW_PACKAGES = gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64
WINDOWS_PACKAGES = gcc-mingw-w64-x86-64 wine64 opencl-c-headers ocl-icd-libopencl1 pocl-opencl-icd \
    --optional $(PICTURE_PACKAGES)
DEMO_PACKAGES = gcc libc6-dev opencl-c-headers ocl-icd-opencl-dev pocl-opencl-icd python3 python3-numpy
# What the demonstration needs, and what it does more with, if it is there.
TRY_PACKAGES = gcc libc6-dev --optional python3 python3-numpy $(PICTURE_PACKAGES)
# One list for each tier of tests: gcc and, for OpenCL, PoCL for make test; compilers, MPI and LLVM for make check.
TEST_PACKAGES = gcc libc6-dev libcmocka-dev --optional $(DEMO_PACKAGES) $(PICTURE_PACKAGES) g++
CHECK_PACKAGES = $(DEMO_PACKAGES) libcmocka-dev --optional $(PICTURE_PACKAGES) g++ python3-pil libopenblas0-pthread \
    liblapacke $(OFFLINE_PACKAGES) $(MINGW_PACKAGES) \
    gcc-multilib oclgrind python3-venv cmake pkg-config help2man build-essential debhelper dpkg-dev python3-dev \
    $(MPI_PACKAGES) gnuplot-nox
DEEP_PACKAGES = $(DEMO_PACKAGES) libcmocka-dev spin clang libclang-rt-dev valgrind clang-tidy cppcheck \
    --optional $(PICTURE_PACKAGES) python3-pil qemu-user g++ $(OFFLINE_PACKAGES) $(MINGW_PACKAGES) oclgrind \
    gnuplot-nox $(FOREIGN_PACKAGES)
