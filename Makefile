# ipt: see `make help`. Needs only make, sh and apt on a fresh Debian 12 or Ubuntu 24.04.

CC = gcc
CFLAGS = -std=c99 -O2 -g -Wall -Wextra -Wpedantic
PYTHON = /usr/bin/python3
LDLIBS = -lOpenCL -lpthread
# For the tool and the tests on hosts of 32 bits: files above 2 GiB, and inodes of 64 bits.
LARGE_FILES = -D_FILE_OFFSET_BITS=64
B = build

KERNEL_PARTS = unit divide single slots sync vectors inner rows registers small_tiles run_moves tickets columns grid_alone runs_held words panel_chunks band_chunks band_waits bands_left actions
KERNELS = chains copy exchange flip map out_of_place pack pairs panel runs shuffle swap tile transpose waves
SEED_KERNELS = pttwac_010 p_ipt pad
BATCH_KERNELS = algebra dot gemv gemm potrf potrs trsm getrf getrs getri elements
KERNEL_FILES = $(KERNEL_PARTS:%=gen/kernels/parts/%.cl) $(KERNELS:%=gen/kernels/%.cl) $(SEED_KERNELS:%=gen/kernels/seeds/%.cl) $(BATCH_KERNELS:%=gen/kernels/elements/%.cl)
HEADERS = ipt.h ipt_kernels.h
EXAMPLES = 01_one_liner 02_own_context 03_batch 04_rgb_planes 05_imatcopy 06_rotate 07_start_up 08_larger_than_memory 09_texture 10_nchw 11_systems 12_eigenvalues make_picture
# The tests mirror the library: one file for each subject, in the folder of its part. tests/support has what they share.
TEST_SOURCES = $(sort $(wildcard tests/*/test_*.c)) $(TEST_SUPPORT:%=tests/support/%.c)
TEST_SUPPORT = main test expect folders process tool meter fake_cl
# The tool's files. Windows has its own for some. All but main.c are in an archive for the tests and the benchmarks.
TOOL = main $(patsubst gen/tool/%.c,%,$(filter-out %_windows.c,$(wildcard gen/tool/*/*.c)))
TOOL_HEADERS = $(wildcard gen/tool/*/*.h)
TOOL_ARCHIVE = $(B)/tool/tool.a
# The single header has the same text, so only a sample of tests is repeated with it; together they use every part.
SINGLE_SOURCES = $(wildcard $(SINGLE:%=tests/*/test_%.c)) $(SINGLE_SUPPORT:%=tests/support/%.c)
SINGLE = host shapes seeds cut cache
SINGLE_SUPPORT = main test expect folders process meter
SINGLE_TESTS = 'shapes*' 'seeds_variants' 'host_*' 'cut_p*' 'cut_s*' 'cache_*'
WINDOWS_LISTS = TOOL="$(TOOL)" EXAMPLES="$(EXAMPLES)" SUPPORT="$(filter-out process,$(TEST_SUPPORT))"
TEST_HEADERS = $(wildcard tests/support/*.h)
FIGURES := $(shell sed -n 's/^\(s[^|]*\)|.*/\1/p' tests/bench/figures/list)
BENCH_HEADERS = $(TOOL_HEADERS) $(wildcard tests/bench/*.h)
FORMATTED = ipt.h gen/library/*.h gen/library/*/*.h gen/*.c gen/python/*.h gen/tool/*.c gen/tool/*/*.c gen/tool/*/*.h gen/kernels/*.cl gen/kernels/parts/*.cl gen/kernels/seeds/*.cl gen/kernels/elements/*.cl examples/*.c \
            tests/*/*.c tests/*/*.h
# Optional: matrices over MPI ranks, and FFTW, which is compared with. Debian builds FFTW for Open MPI.
MPI_PACKAGES = openmpi-bin libopenmpi-dev mpich libmpich-dev
# N: the version of the distribution's clang. Any LLVM from 14 up works.
OFFLINE_PACKAGES = clang llvm lld libclc-N llvm-spirv-N spirv-tools
# Optional for the tool: libstb-dev for PNG, JPEG, BMP and TGA pictures. python3-pil (Pillow) is for tests of these.
PICTURE_PACKAGES = libstb-dev
DEMO_PACKAGES = gcc libc6-dev opencl-c-headers ocl-icd-opencl-dev pocl-opencl-icd python3 python3-numpy
# One list for each tier of tests: gcc and PoCL for make test, other compilers, MPI and LLVM for make check.
TEST_PACKAGES = $(DEMO_PACKAGES) libcmocka-dev --optional $(PICTURE_PACKAGES) g++
CHECK_PACKAGES = $(TEST_PACKAGES) python3-pil libopenblas0-pthread liblapacke $(OFFLINE_PACKAGES) gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 gcc-multilib oclgrind python3-venv \
                 cmake pkg-config help2man build-essential debhelper dpkg-dev python3-dev $(MPI_PACKAGES) gnuplot-nox
DEEP_PACKAGES = $(DEMO_PACKAGES) libcmocka-dev spin clang libclang-rt-dev valgrind clang-tidy cppcheck --optional $(PICTURE_PACKAGES) python3-pil qemu-user \
                g++ $(OFFLINE_PACKAGES) gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64 oclgrind gnuplot-nox $(FOREIGN_PACKAGES)
WINDOWS_PACKAGES = gcc-mingw-w64-x86-64 wine64 opencl-c-headers ocl-icd-libopencl1 pocl-opencl-icd --optional $(PICTURE_PACKAGES)
# clang compiles for every processor: Debian's cross compilers of gcc conflict with gcc-multilib.
FOREIGN_PACKAGES = clang qemu-user binutils-aarch64-linux-gnu binutils-s390x-linux-gnu
CLANG_FORMAT = $(B)/clang-format/bin/clang-format

.PHONY: choices foreign foreign-quick imatcopy imatcopy-planted lapack mpi check-mpi check-mpi-quick check-mpi-tool bench-mpi differential differential-anew differential-planted fuzz-differential help all deps demo test check deep check-sample sample-library sample-tool sample-told check-compile-sample check-again told told-odd told-even told-quick oclgrind oclgrind-quick library-tests host-tests tool-tests single-tests sanitize analyse coverage opencls models fuzz fuzz-shortly soak large check-gen check-format check-lint windows windows-quick check-words check-compile check-compile-quick check-path gen single format tests \
        install uninstall deb check-install check-deb check-python bench-python dist check-dist check-conan check-vcpkg check-version FORCE clean doc-plot bench-batch bench-batch-choice plan-time stress stress-planted bench-estimate bench-heuristics bench-seeds bench-portable bench-startup bench-host figures figures-quick $(FIGURES:%=bench-%)
.DEFAULT_GOAL := help

help: ## list all targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{printf "make %-14s %s\n", $$1, $$2}'

deps: ## install the missing packages of make all and make test with apt (root or sudo), or list them and stop
	@sh gen/deps.sh $(TEST_PACKAGES)

all: $(B)/ipt $(EXAMPLES:%=$(B)/examples/%) single ## build the tool, the examples and the single file

demo: ## transpose a picture and a .npy file, verify both, compare the speed with a copy
	@sh gen/deps.sh $(DEMO_PACKAGES) --optional $(PICTURE_PACKAGES)
	@$(MAKE) --no-print-directory $(B)/ipt $(B)/examples/make_picture $(B)/examples/04_rgb_planes
	@PYTHON=$(PYTHON) sh examples/demo.sh

# The test programs add to it what they skip.
test check deep: export IPT_TEST_SKIPPED = $(B)/skipped

# The sample's programs are not optimised: they run shorter than an optimising compiler needs for them. `make check` optimises.
SAMPLE_FLAGS = $(filter-out -O%,$(CFLAGS)) -O0
test: deps ## a sample of every subject: 62 to 97 s of processor time, after the packages are installed
	@sh tests/skipped.sh begin
	@$(MAKE) --no-print-directory check-gen check-words $(B)/ipt
	@sh tests/devices/usable.sh $(B)/ipt
	@$(MAKE) --no-print-directory -j2 -Otarget check-sample sample-library sample-tool sample-told check-compile-sample
	@sh tests/skipped.sh passed "make test"

check-sample: $(B)/sample/tests/ipt_tests # every subject has a test in the sample
	@sh tests/sample.sh check $<

sample-library: $(B)/sample/tests/ipt_tests $(B)/ipt
	@set -f; $< $$(sh tests/sample.sh patterns library host cache papers) '-told*'

sample-tool: $(B)/sample/tests/ipt_tests $(B)/ipt
	@set -f; $< $$(sh tests/sample.sh patterns tool)

sample-told: $(B)/sample/tests/ipt_tests $(B)/libtold.so
	@PATTERNS='told*' sh tests/devices/told.sh $^ gpu-smallest

# The fastest checks run first. Where there is -j2, two run at a time; each prints its output when it ends.
check: ## all tests, as CI runs them
	@sh gen/deps.sh $(CHECK_PACKAGES)
	@sh tests/skipped.sh begin
	@$(MAKE) --no-print-directory -j2 -Otarget check-gen check-version check-words check-format check-lint check-compile-quick
	@$(MAKE) --no-print-directory -j2 all tests $(B)/walk $(FIGURE_PROGRAMS:%=$(B)/%)
	@sh tests/devices/usable.sh --self-test
	@sh tests/devices/usable.sh $(B)/ipt
	@sh tests/sample.sh check $(B)/tests/ipt_tests
	@sh tests/examples.sh $(B)/examples
	@sh tests/tool/kills.sh $(B)/ipt $(B)/kills 4
	@sh tests/compile/embedded.sh $(B)/ipt $(B)/embedded
	@$(MAKE) --no-print-directory -j2 -Otarget check-install check-deb check-python check-conan check-dist check-vcpkg
	@sh tests/compile/narrow.sh $(B)/narrow
	@CC="$(CC)" sh tests/compile/loading.sh $(B)/loading
	@CC="$(CC)" sh tests/compile/options.sh $(B)/options
	@$(MAKE) --no-print-directory check-path
	@CC="$(CC)" sh tests/compile/hostile.sh $(B)/hostile . $(B)/single
	@$(MAKE) --no-print-directory check-mpi-quick
	@CC="$(CC)" sh tests/devices/opencls.sh rusticl
	@$(MAKE) --no-print-directory -j2 -Otarget host-tests library-tests tool-tests oclgrind-quick single-tests told-quick differential imatcopy lapack
	@$(MAKE) --no-print-directory figures-quick FIGURES="$(FIGURES_IN_CHECK)"
	@sh tests/skipped.sh passed "make check"

# Two at a time, the most useful first. Each prints its output when it ends.
deep: ## the deep checks beyond make check
	@sh gen/deps.sh $(DEEP_PACKAGES)
	@sh tests/skipped.sh begin
	@$(MAKE) --no-print-directory -j2 -Otarget sanitize differential-anew analyse fuzz-shortly coverage check-again oclgrind models check-compile differential-planted imatcopy-planted told-odd told-even
	@$(MAKE) --no-print-directory foreign figures-quick
	@IPT_TEST_WRONG=5000 IPT_TEST_SEED=$$$$ $(MAKE) --no-print-directory check-python
	@sh tests/skipped.sh passed "make deep"

check-again: $(B)/tests/ipt_tests $(B)/ipt ## the random tests with a new seed, and 600 kills of the tool
	@sh tests/random/again.sh

oclgrind-quick: $(B)/walk
	@sh tests/oclgrind/run.sh quick

library-tests: $(B)/tests/ipt_tests $(B)/ipt
	@$< '-tool_*' '-host*' '-cut_*'

host-tests: $(B)/tests/ipt_tests $(B)/ipt
	@$< 'host*' 'cut_*'

told: $(B)/tests/ipt_tests $(B)/libtold.so $(B)/ipt ## the library's tests on the simulated devices of tests/devices/told.list
	@sh tests/devices/told.sh $(wordlist 1,2,$^) $(DEVICES)

told-odd told-even: told-%: $(B)/tests/ipt_tests $(B)/libtold.so $(B)/ipt # every second device of the list
	@HALF=$* sh tests/devices/told.sh $(wordlist 1,2,$^)

told-quick: $(B)/tests/ipt_tests $(B)/libtold.so $(B)/ipt
	@sh tests/devices/told.sh $(wordlist 1,2,$^) quick

tool-tests: $(B)/tests/ipt_tests $(B)/ipt
	@$< 'tool_*'

differential: $(B)/differential # 300 random cases over the whole interface, the same each time
	@$< --cases 300 --seed 1

imatcopy: $(B)/imatcopy ## random calls of examples/05_imatcopy.c against a plain loop and OpenBLAS; CASES=2000 SEED=
	@$< $(or $(CASES),300) $(SEED) || \
	    { [ $$? = 77 ] && sh tests/skipped.sh note imatcopy "the comparison needs OpenBLAS (Debian: libopenblas0-pthread)"; }

lapack: $(B)/lapack ## random batches of ready actions against LAPACK and BLAS; CASES=2000 SEED=
	@$< $(or $(CASES),100) $(SEED) || \
	    { [ $$? = 77 ] && sh tests/skipped.sh note lapack "the comparison needs LAPACKE and OpenBLAS (Debian: liblapacke, libopenblas0-pthread)"; }

mpi: $(B)/mpi/ipt ## build the tool with MPI, build/mpi/ipt, for `mpirun -n 4 build/mpi/ipt transpose --mpi FILE`; MPICC=mpicc

check-mpi: ## matrices over MPI ranks with Open MPI and MPICH: random cases, failures, a simulation; CASES=3000 SEED=
	@sh gen/deps.sh --optional $(MPI_PACKAGES)
	@sh tests/mpi/run.sh $(B)/mpi $(or $(CASES),3000) $(SEED)
	@$(MAKE) --no-print-directory check-mpi-tool KILLS=100

check-mpi-quick:
	@CC_FLAGS="$(filter-out -O%,$(CFLAGS)) -O1" sh tests/mpi/run.sh $(B)/mpi 150
	@$(MAKE) --no-print-directory check-mpi-tool KILLS=4

check-mpi-tool: $(B)/ipt # ipt transpose --mpi
	@if command -v mpicc.openmpi > /dev/null && command -v mpirun.openmpi > /dev/null; then \
	    $(MAKE) --no-print-directory MPICC=mpicc.openmpi $(B)/mpi/ipt && \
	    CC="$(CC)" sh tests/mpi/tool.sh $(B)/mpi/ipt $(B)/ipt $(B)/mpi/files $(KILLS); \
	else sh tests/skipped.sh note "mpi, tool" "Open MPI is not installed (Debian: openmpi-bin libopenmpi-dev)"; fi

imatcopy-planted: $(B)/embed # planted defects that these calls must detect
	@CC="$(CC)" CFLAGS="$(CFLAGS)" LDLIBS="$(LDLIBS) -ldl" KERNEL_FILES="$(KERNEL_FILES)" sh tests/random/planted.sh imatcopy "300 $(SEED)" "$(DEFECT)"

single-tests: $(B)/tests/single/ipt_tests
	@for tests in $(SINGLE_TESTS); do $< "$$tests" || exit 1; done

oclgrind: $(B)/walk ## every kernel under oclgrind: accesses out of bounds, uninitialised values, races, diverging barriers
	@sh tests/oclgrind/run.sh full

sanitize: $(B)/ipt ## the library under the address, undefined behaviour and thread sanitizers, and valgrind
	@sh gen/deps.sh clang libclang-rt-dev valgrind
	@sh tests/analysis/sanitize.sh

analyse: ## gcc's analyser, clang-tidy and cppcheck over the library
	@sh gen/deps.sh clang-tidy cppcheck
	@sh tests/analysis/analyse.sh

coverage: $(B)/ipt $(TOOL_ARCHIVE) ## lines of ipt.h that the tests execute: at least 95 %
	@CC="$(CC)" PYTHON=$(PYTHON) TOOL_ARCHIVE=$(TOOL_ARCHIVE) sh tests/analysis/coverage.sh $(basename $(notdir $(TEST_SOURCES)))

opencls: all tests ## the tests on other OpenCL implementations (downloads them): Intel's for CPUs, Mesa's
	@sh gen/deps.sh python3-venv
	@PYTHON=$(PYTHON) CC="$(CC)" sh tests/devices/opencls.sh

windows: ## the library, examples, tests and tool for Windows, built with mingw-w64 and run under Wine; SUBJECTS="plan cut"
	@sh gen/deps.sh $(WINDOWS_PACKAGES)
	@$(WINDOWS_LISTS) sh tests/windows/run.sh full $(SUBJECTS)

windows-quick: # the same with the sample of every subject
	@$(WINDOWS_LISTS) sh tests/windows/run.sh quick

foreign: $(B)/tests/ipt_tests ## the tests on other processors: i386, s390x and arm64, the last two emulated; PROCESSORS="s390x"
	@sh gen/deps.sh $(DEMO_PACKAGES) libcmocka-dev --optional $(FOREIGN_PACKAGES)
	@sh tests/foreign/run.sh $(PROCESSORS)

foreign-quick: $(B)/tests/ipt_tests ## the tests of formats and refusals there: big-endian, and with 32 bits
	@sh gen/deps.sh $(DEMO_PACKAGES) libcmocka-dev --optional $(FOREIGN_PACKAGES)
	@sh tests/foreign/run.sh quick $(or $(PROCESSORS),i386 s390x)

models: ## model checks of concurrent work-groups and processes: all sequences of their steps
	@sh gen/deps.sh spin
	@sh tests/models/run.sh

fuzz-shortly: # a minute for each reader
	@$(MAKE) --no-print-directory fuzz SECONDS=60

SECONDS ?= 600
fuzz: ## random input for every parser, SECONDS=600 each, with clang's libFuzzer
	@sh gen/deps.sh clang libclang-rt-dev
	@sh tests/fuzz/run.sh $(SECONDS)

differential-anew: # thousands with a new seed
	@$(MAKE) --no-print-directory fuzz-differential CASES=3000 SECONDS=600

fuzz-differential: ## random, repeatable cases over the whole interface: CASES=5000 SEED= SECONDS= SANITIZE=address|thread
	@CC="$(CC)" CFLAGS="$(CFLAGS)" LDLIBS="$(LDLIBS)" SANITIZE=$(SANITIZE) sh tests/random/differential.sh $(or $(CASES),5000) "$(SEED)" "$(if $(filter command,$(origin SECONDS)),$(SECONDS))"

differential-planted: $(B)/embed # planted defects that the cases must detect
	@CC="$(CC)" CFLAGS="$(CFLAGS)" LDLIBS="$(LDLIBS)" KERNEL_FILES="$(KERNEL_FILES)" sh tests/random/planted.sh differential "--cases 2500 --failures 1 $(if $(SEED),--seed $(SEED))" "$(DEFECT)"

large: $(B)/large ## matrices of more than 2^32 elements, on a GPU with 16 GB (IPT_DEVICE selects the GPU)
	@$(B)/large

soak: $(B)/soak ## random plans for MINUTES=5; verifies every result and detects leaks; SEED=, MEGABYTES=
	@$(B)/soak $(or $(MINUTES),5) $(or $(SEED),0) $(or $(MEGABYTES),0)

stress: $(B)/stress ## random shapes on a busy device, repeated; ARGUMENTS="[RUNS] [SECONDS] [MEGABYTES] [SEED]"
	@$(B)/stress $(ARGUMENTS)

choices: ## the planner's choices for random problems on simulated devices against another revision's: BASE=HEAD CASES=10000 SEED=1
	@CC="$(CC)" sh tests/random/choices.sh $(or $(BASE),HEAD) $(CASES) $(SEED)

stress-planted: $(B)/embed ## planted defects that make stress detects on a large GPU; DEFECT=NAME
	@CC="$(CC)" CFLAGS="$(CFLAGS)" LDLIBS="$(LDLIBS)" KERNEL_FILES="$(KERNEL_FILES)" sh tests/random/planted.sh stress "1000 40" "$(DEFECT)"

bench-estimate: $(B)/estimate ## the planner's choices against the best that a search finds; ARGUMENTS="[SHAPES] [SEED] [SECONDS] [ELEM_SIZE] [FILE]"
	@$(B)/estimate $(ARGUMENTS)

bench-heuristics: $(B)/compare_heuristics ## the papers' heuristics against brute force; ARGUMENTS="[SHAPES] [SEED] [SECONDS] [LOW] [HIGH]"
	@$(B)/compare_heuristics $(ARGUMENTS)

bench-seeds: $(B)/ipt ## every kernel and sequence of the papers, verified, against the copy; PADDED="6203x6607:4"
	@PADDED="$(PADDED)" sh tests/bench/seeds.sh $(B)/ipt

bench-portable: $(B)/ipt $(B)/portable ## programs compiled by clang against the device's own compiler; TARGET=ptx:sm_80 PROFILE=FILE
	@sh gen/deps.sh $(OFFLINE_PACKAGES)
	@TARGET="$(TARGET)" PROFILE="$(PROFILE)" sh tests/bench/portable.sh $(B)/ipt $(B)/portable $(B)/portable_programs

bench-host: $(B)/host ## host matrices by every method, on the CPU and the device; SHAPES="7200x1800:4 ...", MKL=1 also installs MKL
	@sh gen/deps.sh libopenblas0-pthread $(if $(MKL),python3-venv)
	@[ -z "$(MKL)" ] || [ -d $(B)/mkl ] || { $(PYTHON) -m venv $(B)/mkl && $(B)/mkl/bin/pip install -q mkl; }
	@HOST_MKL=$$(ls $(B)/mkl/lib/libmkl_rt.so.* 2> /dev/null | head -n 1) $(B)/host $(SHAPES)

bench-mpi: ## a matrix over 4 MPI ranks against FFTW: time and memory; SHAPES="11200x11200 8000x15600" RANKS=4 ROUNDS=5 METHODS="ipt ..."
	@sh gen/deps.sh openmpi-bin libopenmpi-dev libfftw3-dev libfftw3-mpi-dev
	@SHAPES="$(SHAPES)" RANKS=$(RANKS) ROUNDS=$(ROUNDS) METHODS="$(METHODS)" sh tests/bench/mpi.sh $(B)/bench-mpi

bench-file: $(B)/ipt $(B)/file ## an in-place file transposition with little memory against a rewrite of the file; SHAPE=40000x25000:4 MEMORY=256M ROUNDS=3 FOLDER=build
	@$(B)/file $(B)/ipt $(or $(FOLDER),$(B))/matrix.raw $(or $(SHAPE),40000x25000:4) $(or $(ROUNDS),3) --memory $(or $(MEMORY),256M) $(ARGUMENTS)

bench-startup: $(B)/ipt ## time of contexts and plans in new processes, with the caches off, empty and filled; SHAPE=1000x777:4
	@$(B)/ipt bench $(or $(SHAPE),1000x777:4) --startup

figures: ## the papers' tables and figures: build/figures/index.html; QUICK=1 on a CPU, COUNT=5000 for full size, VENDOR=FILE.csv of tests/bench/vendor_batch.py
	@$(MAKE) --no-print-directory -k $(FIGURES:%=bench-%) || failed=1; \
	    OUT=$(B)/figures sh tests/bench/figures/index.sh; exit $${failed:-0}

FIGURE_PROGRAMS = ipt ladder sweep batch batches s002 host
RUN_FIGURES = TOOL=$(B)/ipt LADDER=$(B)/ladder SWEEP=$(B)/sweep BATCH=$(B)/batch BATCHES=$(B)/batches S002=$(B)/s002 HOST=$(B)/host
# One figure for each kind of measurement that a program makes.
FIGURES_IN_CHECK = s000-queues s000-table2 s001-table s002-fig10 s002-fig12 s002-memory s004-table1 s004-moves s004-fig8

$(FIGURES:%=bench-%): bench-%: $(FIGURE_PROGRAMS:%=$(B)/%) ## one figure, such as bench-s000-fig6
	@sh gen/deps.sh gnuplot-nox
	@$(RUN_FIGURES) OUT=$(B)/figures QUICK=$(QUICK) COUNT=$(COUNT) sh tests/bench/figures/$*.sh

figures-quick: $(FIGURE_PROGRAMS:%=$(B)/%) # all of them with small sizes, as a test: FIGURES="s002-fig10 s001-table"
	@$(RUN_FIGURES) OUT=$(B)/figures-quick sh tests/bench/figures/quick.sh $(FIGURES)

tests: $(B)/tests/ipt_tests $(B)/tests/single/ipt_tests ## build the test program, with both headers and with the single one

gen: $(B)/embed ## generate ipt.h from gen/library, ipt_kernels.h from gen/kernels.def and gen/kernels
	$(B)/embed library gen/library > $(B)/ipt.h
	$(B)/embed kernels gen/kernels.def $(KERNEL_FILES) > $(B)/ipt_kernels.h
	mv $(B)/ipt.h $(B)/ipt_kernels.h .

single: $(B)/single/ipt.h ## generate build/single/ipt.h, the library in one file

check-gen: $(B)/embed ## check that ipt.h and ipt_kernels.h are current, and that the library's parts obey the rules
	@$(B)/embed library gen/library > $(B)/ipt.h.new
	@$(B)/embed kernels gen/kernels.def $(KERNEL_FILES) > $(B)/ipt_kernels.h.new
	@for header in ipt.h ipt_kernels.h; do cmp $(B)/$$header.new $$header || \
	    { echo "$$header is not what gen/ makes: run 'make gen'"; exit 1; }; done

check-format: $(B)/clang-format/done ## check the format with clang-format 14
	@if [ ! -x $(CLANG_FORMAT) ]; then sh tests/skipped.sh note check-format "$$(cat $<)"; \
	else $(CLANG_FORMAT) --dry-run --Werror $(FORMATTED); fi

check-lint: $(B)/lint_sources ## clang's OpenCL lint over every kernel for every class of parameters
	@sh tests/analysis/lint.sh $(B)/lint_sources $(B)/lint

check-version: ## check that documents which repeat the version are right
	@sh gen/version.sh check

check-words: ## check that documents, comments and messages contain no phrase of tests/words.list
	@sh tests/words.sh --self-test
	@sh tests/words.sh

check-compile-quick: single
	@sh tests/compile/compile_matrix.sh . quick
	@sh tests/compile/compile_matrix.sh $(B)/single quick
	@sh tests/compile/compile_matrix.sh gen/library quick

check-compile-sample: single
	@sh tests/compile/compile_matrix.sh . sample
	@sh tests/compile/compile_matrix.sh $(B)/single sample
	@sh tests/compile/compile_matrix.sh gen/library sample

check-path: $(B)/tests/ipt_tests $(B)/libtold.so # the tree in a folder with a space, an umlaut, $$, ' and :
	@sh tests/compile/odd_path.sh $(B)/odd $^

check-compile: single ## the compile matrix: compilers, standards, modes, both forms of the header
	@sh tests/compile/compile_matrix.sh .
	@sh tests/compile/compile_matrix.sh $(B)/single
	@sh tests/compile/compile_matrix.sh gen/library

format: $(B)/clang-format/done ## apply clang-format
	$(CLANG_FORMAT) -i $(FORMATTED)

# One version for all, from PyPI: distributions have others, which format differently.
$(B)/clang-format/done: | $(B)
	@rm -rf $(B)/clang-format
	@mkdir -p $(B)/clang-format
	@{ $(PYTHON) -m venv $(B)/clang-format && $(B)/clang-format/bin/pip install -q clang-format==14.0.6; } \
	    > $(B)/clang-format/log 2>&1 && : > $@ || \
	    echo "clang-format 14.0.6 could not be fetched: $$(tail -n 1 $(B)/clang-format/log)" > $@

bench-batch: $(B)/batch ## ready actions of batch plans in every model, beside a copy and a launch for each element; ARGUMENTS="gemm:double:4 potrf:float:8:100000 ..."
	@$(B)/batch $(or $(ARGUMENTS),dot:double:16 gemv:double:4 gemm:double:4 gemm:double:32 potrf:double:8 getrf:double:8)

bench-batch-choice: $(B)/batch_choice ## the model that batch plans choose against the fastest one, for random actions; ARGUMENTS="[CASES] [SEED] [MEGABYTES]"
	@$(B)/batch_choice $(or $(ARGUMENTS),40)

plan-time: $(B)/plan_time ## time to create a plan for a new shape, with cached programs, and the host's time of an execution
	@$(B)/plan_time

doc-plot: | $(B) ## draw the README's plot, gen/doc/plot.svg, from gen/doc/speed.csv
	@sh gen/deps.sh gnuplot-nox
	@gnuplot gen/doc/plot.gp
	@mv $(B)/plot.svg gen/doc/plot.svg

# Where `make install` puts things. DESTDIR is a folder that stands for the root, for packages.
PREFIX = /usr/local
DESTDIR =
BINDIR = $(PREFIX)/bin
INCLUDEDIR = $(PREFIX)/include
LIBDIR = $(PREFIX)/lib
DATADIR = $(PREFIX)/share
PACKAGE = $(B)/package
VERSION := $(shell sh gen/version.sh)
INTERFACE := $(shell sh gen/version.sh interface)
LIBRARY = libipt.so.$(VERSION)

install: $(B)/ipt $(PACKAGE)/$(LIBRARY) $(PACKAGE)/libipt.a $(PACKAGE)/done ## install headers, libraries, the tool and its pages: PREFIX=/usr/local DESTDIR=
	@for folder in "$(INCLUDEDIR)" "$(LIBDIR)/pkgconfig" "$(LIBDIR)/cmake/ipt" "$(BINDIR)" "$(DATADIR)/man/man1" \
	    "$(DATADIR)/bash-completion/completions" "$(DATADIR)/zsh/site-functions" "$(DATADIR)/fish/vendor_completions.d"; do \
	    mkdir -p "$(DESTDIR)$$folder" || exit 1; done
	install -m 644 $(HEADERS) "$(DESTDIR)$(INCLUDEDIR)"
	install -m 644 $(PACKAGE)/$(LIBRARY) $(PACKAGE)/libipt.a "$(DESTDIR)$(LIBDIR)"
	ln -sf $(LIBRARY) "$(DESTDIR)$(LIBDIR)/libipt.so.$(INTERFACE)"
	ln -sf libipt.so.$(INTERFACE) "$(DESTDIR)$(LIBDIR)/libipt.so"
	install -m 755 $(B)/ipt "$(DESTDIR)$(BINDIR)"
	install -m 644 $(PACKAGE)/ipt.pc "$(DESTDIR)$(LIBDIR)/pkgconfig"
	install -m 644 $(PACKAGE)/iptConfig.cmake $(PACKAGE)/iptConfigVersion.cmake "$(DESTDIR)$(LIBDIR)/cmake/ipt"
	install -m 644 $(PACKAGE)/ipt.bash "$(DESTDIR)$(DATADIR)/bash-completion/completions/ipt"
	install -m 644 $(PACKAGE)/ipt.zsh "$(DESTDIR)$(DATADIR)/zsh/site-functions/_ipt"
	install -m 644 $(PACKAGE)/ipt.fish "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d"
	@if [ -s $(PACKAGE)/ipt.1 ]; then install -m 644 $(PACKAGE)/ipt.1 "$(DESTDIR)$(DATADIR)/man/man1"; \
	else echo "Not installed: the manual page, which needs help2man"; fi
	@[ -n "$(DESTDIR)" ] || PATH="$$PATH:/sbin:/usr/sbin" ldconfig -p 2> /dev/null | grep -q " $(LIBDIR)/libipt.so.$(INTERFACE)$$" || \
	    echo "The loader does not know $(LIBDIR)/libipt.so yet: run 'ldconfig' as root, or programs with LD_LIBRARY_PATH=$(LIBDIR)"

uninstall: ## remove what make install has put there, with the same PREFIX and DESTDIR
	rm -f "$(DESTDIR)$(INCLUDEDIR)/ipt.h" "$(DESTDIR)$(INCLUDEDIR)/ipt_kernels.h" "$(DESTDIR)$(LIBDIR)"/libipt.so* \
	    "$(DESTDIR)$(LIBDIR)/libipt.a" "$(DESTDIR)$(BINDIR)/ipt" "$(DESTDIR)$(LIBDIR)/pkgconfig/ipt.pc" \
	    "$(DESTDIR)$(DATADIR)/bash-completion/completions/ipt" "$(DESTDIR)$(DATADIR)/zsh/site-functions/_ipt" \
	    "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/ipt.fish" "$(DESTDIR)$(DATADIR)/man/man1/ipt.1"
	rm -rf "$(DESTDIR)$(LIBDIR)/cmake/ipt"

# Programs see the functions of the interface alone. -O2 stays where CFLAGS has no -O.
$(PACKAGE)/ipt.o: gen/package/ipt.c $(HEADERS) | $(PACKAGE)
	$(CC) -O2 $(CFLAGS) -fPIC -fvisibility=hidden -I. -c -o $@ $<

$(PACKAGE)/$(LIBRARY): $(PACKAGE)/ipt.o
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libipt.so.$(INTERFACE) -o $@ $< $(LDLIBS)

$(PACKAGE)/libipt.a: $(PACKAGE)/ipt.o
	rm -f $@
	$(AR) rc $@ $<

# Always anew: what they contain depends on PREFIX.
$(PACKAGE)/done: $(B)/ipt FORCE | $(PACKAGE)
	@for template in gen/package/ipt.pc gen/cmake/iptConfig.cmake gen/cmake/iptConfigVersion.cmake; do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	        -e 's|@VERSION@|$(VERSION)|' -e 's|@INTERFACE@|$(INTERFACE)|' $$template.in > $(PACKAGE)/$${template##*/} || exit 1; done
	@for shell in bash zsh fish; do sh gen/package/completions.sh $(B)/ipt $$shell > $(PACKAGE)/ipt.$$shell || exit 1; done
	@: > $(PACKAGE)/ipt.1
	@sh gen/package/manual.sh $(B)/ipt > $(PACKAGE)/ipt.h2m
	@! command -v help2man > /dev/null || help2man -N -n "in-place transposition on OpenCL devices" --include=$(PACKAGE)/ipt.h2m -o $(PACKAGE)/ipt.1 $(B)/ipt
	@touch $@

deb: ## build Debian packages into build/deb with debhelper
	@sh gen/deps.sh build-essential debhelper dpkg-dev $(DEMO_PACKAGES) pkg-config help2man --optional $(PICTURE_PACKAGES)
	@sh gen/package/deb.sh $(B)/deb

check-install: $(B)/ipt ## programs that use an installed ipt: pkg-config, and CMake in three ways, in C and C++
	@CC="$(CC)" sh tests/package/install.sh $(B)/check-install
	@CC="$(CC)" sh tests/package/versions.sh $(B)/versions

dist: single ## the release, build/dist/ipt-VERSION.tar.gz, with its sum: the committed tree and the library in one file
	@sh gen/package/dist.sh $(B)/single/ipt.h $(B)/dist

check-dist: single # the release is reproducible and complete
	@CC="$(CC)" sh tests/package/dist.sh $(B)/check-dist

check-conan: ## Conan's package, and a program that requires it
	@PYTHON=$(PYTHON) sh tests/package/conan.sh $(B)/conan

check-vcpkg: single ## vcpkg's port of the release, with stand-ins for vcpkg's functions, and programs that use its packages
	@PYTHON=$(PYTHON) sh tests/package/vcpkg.sh $(B)/vcpkg

check-python: ## the Python package in a new environment: pip install, its tests, its README's lines
	@PYTHON=$(PYTHON) sh tests/python/run.sh $(B)/python

bench-python: ## ipt.transpose against NumPy's copy and fastremap: time and memory; SHAPE="9000 7001"
	@[ -x $(B)/python/venv/bin/python ] || $(MAKE) --no-print-directory check-python
	@$(B)/python/venv/bin/pip install -q fastremap
	@$(B)/python/venv/bin/python tests/bench/python.py $(SHAPE)

check-deb: ## build the Debian packages, install them, run what they contain, remove them
	@CC="$(CC)" sh tests/package/deb.sh $(B)/deb

FORCE:

clean: ## remove build/
	rm -rf $(B)

$(B) $(B)/examples $(B)/single $(B)/tool $(PACKAGE):
	mkdir -p $@

$(B)/embed: gen/embed.c | $(B)
	$(CC) $(CFLAGS) -o $@ $<

$(B)/single/ipt.h: ipt.h ipt_kernels.h $(B)/embed | $(B)/single
	$(B)/embed single ipt.h ipt_kernels.h > $@.new
	mv $@.new $@

$(B)/tool/%.o: gen/tool/%.c $(TOOL_HEADERS) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LARGE_FILES) -I. -c -o $@ $<

# Compiled anew when libstb-dev is installed or removed.
STB = $(B)/tool/$(if $(wildcard /usr/include/stb/stb_image.h),with,without)_stb
$(B)/tool/picture/stb.o: $(STB)
$(STB): | $(B)/tool
	@rm -f $(B)/tool/with_stb $(B)/tool/without_stb
	@touch $@

$(TOOL_ARCHIVE): $(patsubst %,$(B)/tool/%.o,$(filter-out main,$(TOOL)))
	@rm -f $@
	$(AR) rc $@ $^

$(B)/ipt: $(TOOL:%=$(B)/tool/%.o)
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS) -ldl

# The tool with matrices over MPI ranks: the same files, compiled by MPICC.
MPICC = mpicc
$(B)/mpi/tool/%.o: gen/tool/%.c $(TOOL_HEADERS) $(HEADERS)
	@mkdir -p $(@D)
	$(MPICC) $(CFLAGS) $(LARGE_FILES) -DIPT_MPI -I. -c -o $@ $<

$(B)/mpi/ipt: $(TOOL:%=$(B)/mpi/tool/%.o)
	$(MPICC) $(CFLAGS) -o $@ $^ $(LDLIBS) -ldl

$(B)/examples/%: examples/%.c $(HEADERS) | $(B)/examples
	$(CC) $(CFLAGS) -I. -o $@ $< $(LDLIBS) -lm

$(B)/stress $(B)/soak $(B)/differential: $(B)/%: tests/random/%.c $(TEST_HEADERS) $(HEADERS) | $(B)
	$(CC) $(CFLAGS) -I. -Itests/support -o $@ $< $(LDLIBS)

$(B)/imatcopy: tests/random/imatcopy.c examples/05_imatcopy.c $(HEADERS) | $(B)
	$(CC) $(CFLAGS) -I. -o $@ $< $(LDLIBS) -ldl

$(B)/lapack: tests/random/lapack.c $(HEADERS) | $(B)
	$(CC) $(CFLAGS) -I. -o $@ $< $(LDLIBS) -ldl -lm

$(B)/large: tests/library/large.c $(TEST_HEADERS) $(HEADERS) | $(B)
	$(CC) $(CFLAGS) -I. -Itests/support -o $@ $< $(LDLIBS)

$(B)/walk: tests/oclgrind/walk.c $(HEADERS) | $(B)
	$(CC) $(CFLAGS) -I. -o $@ $< $(LDLIBS)

$(B)/lint_sources: tests/analysis/lint_sources.c $(HEADERS) | $(B)
	$(CC) $(CFLAGS) -I. -o $@ $< $(LDLIBS)

$(B)/plan_time: tests/bench/plan_time.c $(HEADERS) | $(B)
	$(CC) $(CFLAGS) -I. -o $@ $< $(LDLIBS)

$(B)/axes $(B)/batch $(B)/batch_choice $(B)/compare_heuristics: $(B)/%: tests/bench/%.c $(wildcard tests/bench/*.h) $(HEADERS) | $(B)
	$(CC) $(CFLAGS) -I. -o $@ $< $(LDLIBS) -lm

$(B)/estimate $(B)/ladder $(B)/sweep $(B)/batches $(B)/s002 $(B)/portable $(B)/host: $(B)/%: tests/bench/%.c $(TOOL_ARCHIVE) $(BENCH_HEADERS) $(HEADERS) | $(B)
	$(CC) $(CFLAGS) -I. -o $@ $< $(TOOL_ARCHIVE) $(LDLIBS) -ldl

$(B)/file: tests/bench/file.c | $(B)
	$(CC) $(CFLAGS) -o $@ $<

$(B)/tests/%.o: tests/%.c $(TEST_HEADERS) $(HEADERS) $(KERNEL_FILES)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LARGE_FILES) -I. -Itests/support -c -o $@ $<

$(foreach tier,$(B) $(B)/sample,$(patsubst %.c,$(tier)/%.o,$(wildcard tests/tool/*.c))): $(TOOL_HEADERS)

$(B)/sample/tests/%.o: tests/%.c $(TEST_HEADERS) $(HEADERS) $(KERNEL_FILES)
	@mkdir -p $(@D)
	$(CC) $(SAMPLE_FLAGS) $(LARGE_FILES) -I. -Itests/support -c -o $@ $<

$(B)/tests/single/%.o: tests/%.c $(TEST_HEADERS) $(B)/single/ipt.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -DTEST_SINGLE_FORM -I$(B)/single -Itests/support -c -o $@ $<

$(B)/sample/tests/ipt_tests: $(TEST_SOURCES:%.c=$(B)/sample/%.o) $(TOOL_ARCHIVE)
	$(CC) -o $@ $^ -lcmocka $(LDLIBS) -lm

$(B)/tests/ipt_tests: $(TEST_SOURCES:tests/%.c=$(B)/tests/%.o) $(TOOL_ARCHIVE)
	$(CC) -o $@ $^ -lcmocka $(LDLIBS) -lm

$(B)/tests/single/ipt_tests: $(SINGLE_SOURCES:tests/%.c=$(B)/tests/single/%.o)
	$(CC) -o $@ $^ -lcmocka $(LDLIBS) -lm

$(B)/libtold.so: tests/support/told.c | $(B)
	$(CC) $(CFLAGS) -shared -fPIC -o $@ $< -ldl -lpthread
