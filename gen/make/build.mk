# What is built, and from what. A new kernel, tool file, test file or example is found by itself.

HEADERS = ipt.h ipt_kernels.h
KERNEL_FILES = $(sort $(wildcard gen/kernels/*.cl gen/kernels/*/*.cl))
NATIVE_C = gen/kernels/native.h gen/kernels/expressions.h
# Without OpenCL's header or library, the tool and the examples have the native driver alone.
HAS_OPENCL := $(shell printf '\043include <CL/cl.h>\nint main(void) { return clFinish(0); }\n' | \
    $(CC) -w -DCL_TARGET_OPENCL_VERSION=120 -x c - -x none -lOpenCL -o /dev/null 2> /dev/null && echo yes)
ifeq ($(HAS_OPENCL)$(filter-out -lOpenCL -lpthread,$(LDLIBS)),)
NO_OPENCL = -DIPT_NO_OPENCL
LINKS = -lpthread
else
NO_OPENCL =
LINKS = $(LDLIBS)
endif
DRIVERS = $(NO_OPENCL) -DIPT_CUDA
# Examples of ranks need MPI, others OpenCL.
EXAMPLES = $(filter-out %_ranks $(if $(NO_OPENCL),$(NEED_OPENCL)),$(basename $(notdir $(wildcard examples/*.c))))
NEED_OPENCL = $(basename $(notdir $(shell grep -ls IPT_DRIVER_OPENCL examples/*.c)))
# Files above 2 GiB and inodes of 64 bits for the tool and the tests on hosts of 32 bits.
LARGE_FILES = -D_FILE_OFFSET_BITS=64
TOOL_HEADERS = $(wildcard gen/tool/*/*.h)
TOOL_SOURCES = $(filter-out %_windows.c,$(wildcard gen/tool/*.c gen/tool/*/*.c))
TOOL_OBJECTS = $(TOOL_SOURCES:gen/%.c=$(B)/%.o)
# The tool's files without main and without the library: tests and benchmarks take from it what they call.
TOOL_ARCHIVE = $(B)/tool/tool.a
# The tests mirror the library: one file for each subject, in the folder of its part. tests/support has what they share.
TEST_SUPPORT = main test expect folders process tool meter fake_cl
TEST_SOURCES = $(sort $(wildcard tests/*/test_*.c)) $(TEST_SUPPORT:%=tests/support/%.c)
TEST_HEADERS = $(wildcard tests/support/*.h)
# The single header has the same text, so only a sample of tests is repeated with it; together they use every part.
SINGLE = host shapes seeds cut cache
SINGLE_SOURCES = $(wildcard $(SINGLE:%=tests/*/test_%.c)) $(TEST_SUPPORT:%=tests/support/%.c)
# The sample is not optimised: its programs run shorter than an optimising compiler needs for them.
SAMPLE_FLAGS = $(filter-out -O%,$(CFLAGS)) -O0

$(B):
	mkdir -p $@

$(B)/embed: gen/embed.c | $(B)
	$(CC) $(CFLAGS) -o $@ $<

$(B)/single/ipt.h: $(HEADERS) $(B)/embed
	@mkdir -p $(@D)
	$(B)/embed single $(HEADERS) > $@.new
	mv $@.new $@

# What has DRIVERS is compiled anew when OpenCL is installed or removed.
OPENCL = $(B)/tool/$(if $(NO_OPENCL),without,with)_opencl
$(OPENCL):
	@mkdir -p $(@D)
	@rm -f $(B)/tool/with_opencl $(B)/tool/without_opencl
	@touch $@

$(B)/tool/%.o: gen/tool/%.c $(TOOL_HEADERS) $(HEADERS) $(OPENCL)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DRIVERS) $(LARGE_FILES) -I. -c -o $@ $<

# Compiled anew when libstb-dev is installed or removed.
STB = $(B)/tool/$(if $(wildcard /usr/include/stb/stb_image.h),with,without)_stb
$(B)/tool/picture/stb.o: $(STB)
$(STB):
	@mkdir -p $(@D)
	@rm -f $(B)/tool/with_stb $(B)/tool/without_stb
	@touch $@

$(TOOL_ARCHIVE): $(filter-out %/main.o %/library.o,$(TOOL_OBJECTS))
	rm -f $@
	$(AR) rc $@ $^

$(B)/ipt: $(TOOL_OBJECTS)
	$(CC) $(CFLAGS) -o $@ $^ $(LINKS) -ldl -lm

# The tool with matrices over MPI ranks: the same files, compiled by MPICC.
MPICC = mpicc
$(B)/mpi/tool/%.o: gen/tool/%.c $(TOOL_HEADERS) $(HEADERS)
	@mkdir -p $(@D)
	$(MPICC) $(CFLAGS) $(LARGE_FILES) -DIPT_MPI -DIPT_CUDA -I. -c -o $@ $<

$(B)/mpi/ipt: $(TOOL_OBJECTS:$(B)/%=$(B)/mpi/%)
	$(MPICC) $(CFLAGS) -o $@ $^ $(LDLIBS) -ldl

.PHONY: mpi
mpi: $(B)/mpi/ipt ## build the tool with MPI, for `mpirun -n 4 build/mpi/ipt transpose --mpi FILE`; MPICC=mpicc

$(B)/examples/%: examples/%.c $(HEADERS) $(OPENCL)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(DRIVERS) -I. -o $@ $< $(LINKS) -ldl -lm

# For programs that call OpenCL themselves.
ONLY_OPENCL = -DIPT_NO_NATIVE
# Programs of one file, by the folder of their source.
ONE_FILE = $(CC) $(CFLAGS) $(ONLY_OPENCL) -I. -Itests/support -o $@ $< $(LDLIBS) -ldl -lm
$(B)/stress $(B)/soak $(B)/differential $(B)/imatcopy $(B)/lapack $(B)/columns $(B)/views: \
    $(B)/%: tests/random/%.c examples/05_imatcopy.c $(TEST_HEADERS) $(HEADERS) | $(B)
	$(ONE_FILE)

$(B)/large: tests/library/large.c $(TEST_HEADERS) $(HEADERS) | $(B)
	$(ONE_FILE)

$(B)/walk: tests/oclgrind/walk.c $(TEST_HEADERS) $(HEADERS) | $(B)
	$(ONE_FILE)

$(B)/lint_sources: tests/analysis/lint_sources.c $(HEADERS) | $(B)
	$(ONE_FILE)

BENCH_PROGRAMS = $(filter-out mpi,$(basename $(notdir $(wildcard tests/bench/*.c))))
$(BENCH_PROGRAMS:%=$(B)/%): $(B)/%: tests/bench/%.c $(wildcard tests/bench/*.h) $(TOOL_ARCHIVE) $(HEADERS) | $(B)
	$(CC) $(CFLAGS) $(ONLY_OPENCL) -I. -o $@ $< $(TOOL_ARCHIVE) $(LDLIBS) -ldl -lm

TEST_INCLUDES = $(LARGE_FILES) -I. -Itests/support
TEST_FLAGS = $(ONLY_OPENCL) $(TEST_INCLUDES)
$(B)/tests/%.o: tests/%.c $(TEST_HEADERS) $(HEADERS) $(KERNEL_FILES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(TEST_FLAGS) -c -o $@ $<

$(B)/sample/tests/%.o: tests/%.c $(TEST_HEADERS) $(HEADERS) $(KERNEL_FILES)
	@mkdir -p $(@D)
	$(CC) $(SAMPLE_FLAGS) $(TEST_FLAGS) -c -o $@ $<

$(foreach tier,$(B) $(B)/sample,$(patsubst %.c,$(tier)/%.o,$(wildcard tests/tool/*.c))): $(TOOL_HEADERS)

$(B)/tests/single/%.o: tests/%.c $(TEST_HEADERS) $(B)/single/ipt.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(ONLY_OPENCL) -DTEST_SINGLE_FORM -I$(B)/single -Itests/support -c -o $@ $<

$(B)/sample/tests/ipt_tests: $(TEST_SOURCES:%.c=$(B)/sample/%.o) $(TOOL_ARCHIVE)
	$(CC) -o $@ $^ -lcmocka $(LDLIBS) -lm

$(B)/tests/ipt_tests: $(TEST_SOURCES:%.c=$(B)/%.o) $(TOOL_ARCHIVE)
	$(CC) -o $@ $^ -lcmocka $(LDLIBS) -lm

# The same tests on a device of CUDA.
$(B)/cuda/opencl.o: tests/cuda/opencl.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(filter-out -std=%,$(CFLAGS)) -Wno-unused-function -I. -c -o $@ $<

$(B)/cuda/ipt_tests: $(TEST_SOURCES:%.c=$(B)/%.o) $(B)/cuda/opencl.o $(TOOL_ARCHIVE)
	$(CC) -o $@ $^ -lcmocka -lpthread -ldl -lm

$(B)/cuda/walk: tests/oclgrind/walk.c $(TEST_HEADERS) $(HEADERS) $(B)/cuda/opencl.o
	$(CC) $(CFLAGS) $(ONLY_OPENCL) -DWALK_PLAIN -I. -Itests/support -o $@ $< $(B)/cuda/opencl.o -lpthread -ldl -lm

$(B)/tests/single/ipt_tests: $(SINGLE_SOURCES:tests/%.c=$(B)/tests/single/%.o)
	$(CC) -o $@ $^ -lcmocka $(LDLIBS) -lm

# The tests of the native driver: no header and no library of OpenCL. Each of the other tests replaces functions of
# OpenCL, or compiles its language.
NATIVE_TESTS = heuristics plan bad_input host execution moves shapes exchange pitch axes views sequences seeds bus \
    thin places cut actions
NATIVE_SOURCES = $(wildcard $(NATIVE_TESTS:%=tests/*/test_%.c)) \
    $(patsubst %,tests/support/%.c,$(filter-out tool fake_cl,$(TEST_SUPPORT)))
$(B)/native/tests/%.o: tests/%.c $(TEST_HEADERS) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(TEST_INCLUDES) -DIPT_NO_OPENCL -c -o $@ $<

$(B)/native/tests/ipt_tests: $(NATIVE_SOURCES:%.c=$(B)/native/%.o)
	$(CC) -o $@ $^ -lcmocka $(filter-out -lOpenCL,$(LDLIBS)) -lm

$(B)/libtold.so: tests/support/told.c | $(B)
	$(CC) $(CFLAGS) -shared -fPIC -o $@ $< -ldl -lpthread
