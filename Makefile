# ipt: see `make help`. Needs only make, sh and apt on a fresh Debian 12 or Ubuntu 24.04. gen/make has the rules.

CC = gcc
CFLAGS = -std=c99 -O2 -g -Wall -Wextra -Wpedantic
PYTHON = /usr/bin/python3
LDLIBS = -lOpenCL -lpthread
B = build
.DEFAULT_GOAL := help
SUBMAKE = $(MAKE) --no-print-directory
TWO = $(SUBMAKE) -j2 -Otarget

include gen/make/packages.mk gen/make/build.mk gen/make/checks.mk gen/make/random.mk gen/make/bench.mk
include gen/make/install.mk

.PHONY: help deps all demo tests gen single format doc-plot clean FORCE

help: ## list what make can do
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "make %-14s %s\n", $$1, $$2 }'
	@echo; echo "make check ONLY=\"NAME...\" runs parts of the checks, and more. The names:"
	@sed -n 's/^\([a-z-]*\)[a-z -]*:.*#check /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "  %-20s %s\n", $$1, $$2 }'
	@echo; echo "make bench NAME=NAME measures. The names:"
	@sed -n 's/^bench-\([a-z-]*\):.*#bench /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "  %-20s %s\n", $$1, $$2 }'

deps: ## install the missing packages of make all and make test with apt (root or sudo), or list them and stop
	@sh gen/deps.sh $(TEST_PACKAGES)

all: $(B)/ipt $(EXAMPLES:%=$(B)/examples/%) single ## build the tool, the examples and the single file

demo: ## transpose a picture and a .npy file, verify both, compare the speed with a copy
	@sh gen/deps.sh $(TRY_PACKAGES)
	@$(SUBMAKE) $(B)/ipt $(B)/examples/make_picture $(B)/examples/04_rgb_planes
	@PYTHON=$(PYTHON) sh examples/demo.sh

tests: $(B)/tests/ipt_tests $(B)/tests/single/ipt_tests ## build the test program, with both headers and the single one

gen: $(B)/embed ## generate ipt.h from gen/library, ipt_kernels.h from gen/kernels.def and gen/kernels
	$(B)/embed library gen/library > $(B)/ipt.h
	$(B)/embed kernels gen/kernels.def $(NATIVE_C) $(KERNEL_FILES) > $(B)/ipt_kernels.h
	mv $(B)/ipt.h $(B)/ipt_kernels.h .

single: $(B)/single/ipt.h ## generate build/single/ipt.h, the library in one file

format: $(B)/clang-format/done ## apply clang-format
	@$(CLANG_FORMAT) -i $(FORMATTED)

doc-plot: | $(B) ## draw the README's plot, gen/doc/plot.svg, from gen/doc/speed.csv
	@sh gen/deps.sh gnuplot-nox
	@gnuplot gen/doc/plot.gp
	@mv $(B)/plot.svg gen/doc/plot.svg

clean: ## remove build/
	rm -rf $(B)

FORCE:
