# Checks. make test is a sample, make check is what CI runs, make deep goes beyond. ONLY="NAME..." runs some parts.

CLANG_FORMAT = $(B)/clang-format/bin/clang-format
FORMATTED = ipt.h $(wildcard gen/library/*.h gen/library/*/*.h gen/*.c gen/python/*.h gen/tool/*.[ch] \
    gen/tool/*/*.[ch] gen/kernels/*.[ch]* gen/kernels/*/*.cl examples/*.c tests/*/*.c tests/*/*.h)
WINDOWS_LISTS = EXAMPLES="$(EXAMPLES)" SUPPORT="$(filter-out process,$(TEST_SUPPORT))"
SINGLE_TESTS = 'shapes*' 'seeds_variants' 'host_*' 'cut_p*' 'cut_s*' 'cache_*'
FIGURE_PROGRAMS = ipt ladder sweep batch batches s002 host
TOLD = $(B)/tests/ipt_tests $(B)/libtold.so
RUN_TOLD = sh tests/devices/told.sh $(TOLD)
SKIPPED = sh tests/skipped.sh

# The tool and the examples of the tests work through OpenCL, the native driver has tests of its own.
test check deep sample-tool tool-tests windows windows-quick foreign foreign-quick opencls check-python \
    check-mpi-tool: \
        export IPT_DEVICE := $(or $(IPT_DEVICE),opencl)
# The test programs add to it what they skip.
test check deep: export IPT_TEST_SKIPPED = $(B)/skipped

.PHONY: test check deep
test: deps ## a sample of every subject: 62 to 97 s of processor time, after the packages are installed
	@$(SKIPPED) begin
	@$(SUBMAKE) check-gen check-words $(B)/ipt
	@$(SUBMAKE) sample-of-drivers
	@$(SKIPPED) passed "make test"

# Without OpenCL's header or library, or without any device, the native driver is all that can be tested.
OPENCL_IS_MISSING = $(shell IPT_DEVICE=opencl $(B)/ipt devices 2>&1 | grep -e IPT_NO_OPENCL -e "no OpenCL platform")
.PHONY: sample-of-drivers sample native-alone
sample-of-drivers: $(B)/ipt
	@$(SUBMAKE) $(if $(OPENCL_IS_MISSING),native-alone,sample)

sample:
	@sh tests/devices/usable.sh $(B)/ipt
	@$(TWO) check-sample sample-library sample-tool sample-told check-compile-sample

native-alone:
	@$(SKIPPED) note "all tests of OpenCL" "there is no OpenCL: see DEMO_PACKAGES"
	@$(TWO) native native-tests

ifdef ONLY
check deep:
	@$(SUBMAKE) $(ONLY)
else
# The fastest checks run first. Where there is -j2, two run at a time; each prints its output when it ends.
check: ## all tests, as CI runs them; ONLY="NAME..." some of them
	@sh gen/deps.sh $(CHECK_PACKAGES)
	@$(SKIPPED) begin
	@$(TWO) check-gen check-version check-words check-format check-lint check-compile-quick models-quick
	@$(SUBMAKE) -j2 all tests $(B)/walk $(BENCH_PROGRAMS:%=$(B)/%)
	@sh tests/devices/usable.sh --self-test
	@sh tests/devices/usable.sh $(B)/ipt
	@sh tests/sample.sh check $(B)/tests/ipt_tests
	@sh tests/examples.sh $(B)/examples
	@sh tests/tool/kills.sh $(B)/ipt $(B)/kills 4
	@sh tests/compile/embedded.sh $(B)/ipt $(B)/embedded
	@$(TWO) check-install check-deb check-python check-conan check-dist check-vcpkg
	@sh tests/compile/narrow.sh $(B)/narrow
	@CC="$(CC)" sh tests/compile/loading.sh $(B)/loading
	@CC="$(CC)" sh tests/compile/options.sh $(B)/options
	@$(SUBMAKE) check-path
	@CC="$(CC)" sh tests/compile/hostile.sh $(B)/hostile . $(B)/single
	@$(SUBMAKE) check-mpi-quick
	@$(TWO) native native-tests cuda cuda-nvrtc-quick
	@CC="$(CC)" sh tests/devices/opencls.sh rusticl
	@$(TWO) host-tests library-tests tool-tests oclgrind-quick single-tests told-quick differential imatcopy lapack
	@$(SUBMAKE) figures-quick FIGURES="$(FIGURES_IN_CHECK)"
	@$(SKIPPED) passed "make check"

# Two at a time, the most useful first. Each prints its output when it ends.
deep: ## the deep checks beyond make check; ONLY="NAME..." some of them
	@sh gen/deps.sh $(DEEP_PACKAGES)
	@$(SKIPPED) begin
	@$(TWO) sanitize differential-anew analyse fuzz-shortly coverage check-again oclgrind models check-compile \
	    differential-planted imatcopy-planted columns columns-planted waves \
	    waves-planted views views-planted told-odd told-even native-sanitize cuda-sanitize cuda-nvrtc
	@$(SUBMAKE) foreign figures-quick
	@IPT_TEST_WRONG=5000 IPT_TEST_SEED=$$$$ $(SUBMAKE) check-python
	@$(SKIPPED) passed "make deep"
endif

# The text

.PHONY: check-gen check-format check-lint check-version check-words check-documents sizes
check-gen: $(B)/embed #check ipt.h and ipt_kernels.h are current, and the library's parts obey the rules
	@$(B)/embed library gen/library > $(B)/ipt.h.new
	@$(B)/embed kernels gen/kernels.def $(NATIVE_C) $(KERNEL_FILES) > $(B)/ipt_kernels.h.new
	@for header in ipt.h ipt_kernels.h; do cmp $(B)/$$header.new $$header || \
	    { echo "$$header is not what gen/ makes: run 'make gen'"; exit 1; }; done
	@sh tests/random/planted.sh texts
	@cd gen/library && for part in */*.h; do grep -q "^ *#include \"$$part\"" ipt.h || \
	    { echo "gen/library/$$part: gen/library/ipt.h does not include it"; exit 1; }; done
	@! grep -rnE '\bipt__opencl\b|(^|[^>.A-Za-z_"])cl[A-Z][A-Za-z]*\(' gen/library | grep -v '^gen/library/driver/' || \
	    { echo "call a device's functions by ipt__calls(context)->, see gen/library/driver"; exit 1; }
	@! grep -nE '^.{121}' Makefile gen/make/*.mk || { echo "no line of a makefile is longer than 120 columns"; exit 1; }

check-format: $(B)/clang-format/done #check the format, with clang-format 14
	@if [ ! -x $(CLANG_FORMAT) ]; then $(SKIPPED) note check-format "$$(cat $<)"; \
	else $(CLANG_FORMAT) --dry-run --Werror $(FORMATTED); fi

# One version for all, from PyPI: distributions have others, which format differently.
$(B)/clang-format/done: | $(B)
	@rm -rf $(B)/clang-format
	@mkdir -p $(B)/clang-format
	@{ $(PYTHON) -m venv $(B)/clang-format && $(B)/clang-format/bin/pip install -q clang-format==14.0.6; } \
	    > $(B)/clang-format/log 2>&1 && : > $@ || \
	    echo "clang-format 14.0.6 could not be fetched: $$(tail -n 1 $(B)/clang-format/log)" > $@

check-lint: $(B)/lint_sources #check clang's OpenCL lint over every kernel for every class of parameters
	@sh tests/analysis/lint.sh $(B)/lint_sources $(B)/lint

check-version: #check documents that repeat the version are right
	@sh gen/version.sh check

check-words: #check documents, comments and messages have no phrase of tests/words.list
	@sh tests/words.sh --self-test
	@sh tests/words.sh

check-version: check-documents
check-documents: #check the README's programs and sizes, and its speeds against gen/doc/speed.csv
	@sh tests/documents.sh speeds
	@CC="$(CC)" sh tests/documents.sh programs
	@CC="$(CC)" sh tests/documents.sh sizes readme

sizes: #check all sizes in README.md and gen/doc/options.md; UPDATE=1 writes them anew
	@CC="$(CC)" sh tests/documents.sh sizes $(if $(UPDATE),update)

# Compilers and packages

.PHONY: check-compile check-compile-quick check-compile-sample check-path check-install check-deb check-python
.PHONY: check-conan check-vcpkg check-dist
FORMS = . $(B)/single gen/library
check-compile: single #check the compile matrix: compilers, standards, modes, both forms of the header
	@for form in $(FORMS); do sh tests/compile/compile_matrix.sh $$form || exit 1; done

check-compile-quick check-compile-sample: check-compile-%: single
	@for form in $(FORMS); do sh tests/compile/compile_matrix.sh $$form $* || exit 1; done

check-path: $(TOLD) # the tree in a folder with a space, an umlaut, $$, ' and :
	@sh tests/compile/odd_path.sh $(B)/odd $^

check-install: $(B)/ipt #check programs that use an installed ipt: pkg-config, and CMake in three ways, in C and C++
	@CC="$(CC)" sh tests/package/install.sh $(B)/check-install
	@CC="$(CC)" sh tests/package/versions.sh $(B)/versions

check-deb: #check the Debian packages are built, installed, run and removed
	@CC="$(CC)" sh tests/package/deb.sh $(B)/deb

check-python: $(B)/ipt #check the Python package in a new environment: pip install, its tests, its README's lines
	@PYTHON=$(PYTHON) sh tests/python/run.sh $(B)/python

check-conan: #check Conan's package, and a program that requires it
	@PYTHON=$(PYTHON) sh tests/package/conan.sh $(B)/conan

check-vcpkg: single #check vcpkg's port of the release, with stand-ins for vcpkg's functions, and programs that use it
	@PYTHON=$(PYTHON) sh tests/package/vcpkg.sh $(B)/vcpkg

check-dist: single #check the release is reproducible and complete
	@CC="$(CC)" sh tests/package/dist.sh $(B)/check-dist

# The test programs

.PHONY: check-sample sample-library sample-tool sample-told check-again library-tests host-tests tool-tests single-tests
check-sample: $(B)/sample/tests/ipt_tests # every subject has a test in the sample
	@sh tests/sample.sh check $<

sample-library: $(B)/sample/tests/ipt_tests $(B)/ipt
	@set -f; $< $$(sh tests/sample.sh patterns library host cache papers) '-told*'

sample-tool: $(B)/sample/tests/ipt_tests $(B)/ipt
	@set -f; $< $$(sh tests/sample.sh patterns tool)

sample-told: $(B)/sample/tests/ipt_tests $(B)/libtold.so
	@PATTERNS='told*' sh tests/devices/told.sh $^ gpu-smallest

check-again: $(B)/tests/ipt_tests $(B)/ipt #check the random tests with a new seed, and 600 kills of the tool
	@sh tests/random/again.sh

library-tests: $(B)/tests/ipt_tests $(B)/ipt #check the test program without the tool and without host matrices
	@$< '-tool_*' '-host*' '-cut_*'

host-tests: $(B)/tests/ipt_tests $(B)/ipt #check host matrices
	@$< 'host*' 'cut_*'

tool-tests: $(B)/tests/ipt_tests $(B)/ipt #check the tool
	@$< 'tool_*'

single-tests: $(B)/tests/single/ipt_tests
	@for tests in $(SINGLE_TESTS); do $< "$$tests" || exit 1; done

.PHONY: native native-tests native-sanitize cuda cuda-gpu cuda-sanitize cuda-nvrtc cuda-nvrtc-quick
native: single $(B)/ipt #check the native driver, and programs without OpenCL: CASES=200 SEED=1
	@CC="$(CC)" sh tests/native/run.sh quick $(CASES) $(SEED)

native-tests: $(B)/native/tests/ipt_tests #check the library's tests on the native driver, without OpenCL
	@unset IPT_DEVICE; $<

cuda: $(B)/cuda/ipt_tests $(B)/cuda/walk $(B)/drivers
cuda: $(B)/ipt #check the CUDA driver, and the tool on it, on a stand-in of CUDA: CASES=40 SEED=1
	@CC="$(CC)" sh tests/cuda/run.sh quick $(CASES) $(SEED)

cuda-gpu: $(B)/cuda/walk
cuda-gpu: $(B)/cuda/ipt_tests #check the CUDA driver and the library's tests on a GPU, kernels under compute-sanitizer
	@CC="$(CC)" sh tests/cuda/run.sh real $(or $(CASES),40) $(or $(SEED),1) '*' 10000
	@sh tests/cuda/suite.sh $< $(B)/cuda/suite
	@sh tests/cuda/sanitize.sh $(B)/cuda/walk $(B)/cuda/sanitized memcheck racecheck synccheck

cuda-sanitize: $(B)/ipt #check the CUDA driver on the stand-in under clang's sanitizers
	@CLANG="$(CLANG)" sh tests/cuda/run.sh sanitize $(CASES) $(SEED)

cuda-nvrtc: $(B)/lint_sources #check NVRTC compiles the kernels' texts for sm_70, sm_80, sm_90, sm_100: EVERY=20 of them
	@CC="$(CC)" PYTHON=$(PYTHON) sh tests/cuda/nvrtc.sh $(B)/nvrtc $<

cuda-nvrtc-quick: $(B)/lint_sources
	@EVERY=600 CC="$(CC)" PYTHON=$(PYTHON) sh tests/cuda/nvrtc.sh $(B)/nvrtc $<

native-sanitize: $(B)/ipt #check the native driver's kernels and threads under clang's sanitizers
	@CLANG="$(CLANG)" sh tests/native/run.sh sanitize $(CASES) $(SEED)

# Other devices, processors and systems

.PHONY: told told-odd told-even told-quick opencls windows windows-quick foreign foreign-quick
.PHONY: check-mpi check-mpi-quick check-mpi-tool
told: $(TOLD) $(B)/ipt #check the library's tests on simulated devices, tests/devices/told.list; DEVICES="gpu-small"
	@$(RUN_TOLD) $(DEVICES)

told-odd told-even: told-%: $(TOLD) $(B)/ipt # every second device of the list
	@HALF=$* $(RUN_TOLD)

told-quick: $(TOLD) $(B)/ipt
	@$(RUN_TOLD) quick

opencls: all tests #check other OpenCL implementations (downloads them): Intel's for CPUs, Mesa's
	@sh gen/deps.sh python3-venv
	@PYTHON=$(PYTHON) CC="$(CC)" sh tests/devices/opencls.sh

windows: #check all for Windows, built with mingw-w64 and run under Wine; SUBJECTS="plan cut"
	@sh gen/deps.sh $(WINDOWS_PACKAGES)
	@$(WINDOWS_LISTS) sh tests/windows/run.sh full $(SUBJECTS)

windows-quick: #check the sample of every subject for Windows
	@$(WINDOWS_LISTS) sh tests/windows/run.sh quick

FOREIGN_DEPS = sh gen/deps.sh $(DEMO_PACKAGES) libcmocka-dev --optional $(FOREIGN_PACKAGES)
foreign: $(B)/tests/ipt_tests #check other processors: i386, s390x and arm64, the last two emulated; PROCESSORS="s390x"
	@$(FOREIGN_DEPS)
	@sh tests/foreign/run.sh $(PROCESSORS)

foreign-quick: $(B)/tests/ipt_tests #check formats and refusals there: big-endian, and with 32 bits
	@$(FOREIGN_DEPS)
	@sh tests/foreign/run.sh quick $(or $(PROCESSORS),i386 s390x)

check-mpi: #check matrices over MPI ranks with Open MPI and MPICH: random cases, failures, a simulation; CASES= SEED=
	@sh gen/deps.sh --optional $(MPI_PACKAGES)
	@sh tests/mpi/run.sh $(B)/mpi $(or $(CASES),3000) $(SEED)
	@$(SUBMAKE) check-mpi-tool KILLS=100

check-mpi-quick:
	@CC_FLAGS="$(filter-out -O%,$(CFLAGS)) -O1" sh tests/mpi/run.sh $(B)/mpi 150
	@$(SUBMAKE) check-mpi-tool KILLS=4

check-mpi-tool: $(B)/ipt # ipt transpose --mpi
	@if command -v mpicc.openmpi > /dev/null && command -v mpirun.openmpi > /dev/null; then \
	    $(SUBMAKE) MPICC=mpicc.openmpi $(B)/mpi/ipt && \
	    CC="$(CC)" sh tests/mpi/tool.sh $(B)/mpi/ipt $(B)/ipt $(B)/mpi/files $(KILLS); \
	else $(SKIPPED) note "mpi, tool" "Open MPI is not installed (Debian: openmpi-bin libopenmpi-dev)"; fi

# Analysers

.PHONY: oclgrind oclgrind-quick sanitize analyse coverage models models-quick
oclgrind: $(B)/walk #check every kernel under oclgrind: bounds, uninitialised values, races, diverging barriers
	@sh tests/oclgrind/run.sh full

oclgrind-quick: $(B)/walk
	@sh tests/oclgrind/run.sh quick

sanitize: $(B)/ipt #check the library under the address, undefined behaviour and thread sanitizers, and valgrind
	@sh gen/deps.sh clang libclang-rt-dev valgrind
	@sh tests/analysis/sanitize.sh

analyse: #check gcc's analyser, clang-tidy and cppcheck over the library
	@sh gen/deps.sh clang-tidy cppcheck
	@sh tests/analysis/analyse.sh

coverage: $(B)/ipt $(TOOL_ARCHIVE) #check lines of ipt.h that the tests execute: at least 95 %
	@CC="$(CC)" PYTHON=$(PYTHON) TOOL_ARCHIVE=$(TOOL_ARCHIVE) sh tests/analysis/coverage.sh \
	    $(basename $(notdir $(TEST_SOURCES)))

models: #check models and simulations of concurrent work-groups and processes; CASES= SEED= of the simulated arrays
	@sh gen/deps.sh spin
	@sh tests/models/run.sh
	@$(PYTHON) tests/models/columns.py $(or $(CASES),10000) $(SEED)

models-quick: # a few simulated arrays by bands with permuted columns and by boxes, and known-bad variants
	@$(PYTHON) tests/models/columns.py $(or $(CASES),400) $(SEED)
