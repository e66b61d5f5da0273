# Measurements: make bench NAME=NAME, make figure NAME=NAME.

FIGURES := $(shell sed -n 's/^\(s[^|]*\)|.*/\1/p' tests/bench/figures/list)
# One figure for each kind of measurement that a program makes.
FIGURES_IN_CHECK = s000-queues s000-table2 s001-table s002-fig10 s002-fig12 s002-memory s004-table1 s004-moves s004-fig8
RUN_FIGURES = TOOL=$(B)/ipt LADDER=$(B)/ladder SWEEP=$(B)/sweep BATCH=$(B)/batch BATCHES=$(B)/batches S002=$(B)/s002 \
    HOST=$(B)/host
BATCH_SAMPLE = dot:double:16 gemv:double:4 gemm:double:4 gemm:double:32 potrf:double:8 getrf:double:8

.PHONY: bench figure figures-quick $(FIGURES:%=figure-%)
bench: ## measure; NAME=NAME, see the list below
	@[ -n "$(NAME)" ] || { $(SUBMAKE) help | sed -n '/^make bench/,$$p'; exit 1; }
	@$(SUBMAKE) bench-$(NAME)

figure: ## the papers' figures, build/figures/index.html: all, or NAME=s000-fig6; QUICK=1 COUNT=5000 VENDOR=FILE.csv
	@$(SUBMAKE) -k $(or $(NAME:%=figure-%),$(FIGURES:%=figure-%)) || failed=1; \
	    $(if $(NAME),:,OUT=$(B)/figures sh tests/bench/figures/index.sh); exit $${failed:-0}

# QUICK: on a CPU. COUNT: for full size. VENDOR: of tests/bench/vendor_batch.py.
$(FIGURES:%=figure-%): figure-%: $(FIGURE_PROGRAMS:%=$(B)/%)
	@sh gen/deps.sh gnuplot-nox
	@$(RUN_FIGURES) OUT=$(B)/figures QUICK=$(QUICK) COUNT=$(COUNT) sh tests/bench/figures/$*.sh

figures-quick: $(FIGURE_PROGRAMS:%=$(B)/%) #check the papers' figures with small sizes; FIGURES="s002-fig10 s001-table"
	@$(RUN_FIGURES) OUT=$(B)/figures-quick sh tests/bench/figures/quick.sh $(FIGURES)

.PHONY: bench-estimate bench-heuristics bench-seeds bench-portable bench-host bench-mpi bench-file bench-startup
.PHONY: bench-batch bench-batch-choice bench-plan-time bench-python bench-drivers bench-torch
# ARGUMENTS="[SHAPES] [SEED] [SECONDS] [ELEM_SIZE] [FILE]"
bench-estimate: $(B)/estimate #bench the planner's choices against the best that a search finds
	@$< $(ARGUMENTS)

# ARGUMENTS="[SHAPES] [SEED] [SECONDS] [LOW] [HIGH]"
bench-heuristics: $(B)/compare_heuristics #bench the papers' heuristics against brute force
	@$< $(ARGUMENTS)

bench-seeds: $(B)/ipt #bench every kernel and sequence of the papers, verified, against the copy; PADDED="6203x6607:4"
	@PADDED="$(PADDED)" sh tests/bench/seeds.sh $<

bench-portable: $(B)/ipt $(B)/portable #bench programs of clang against the device's compiler; TARGET=ptx:sm_80 PROFILE=
	@sh gen/deps.sh $(OFFLINE_PACKAGES)
	@TARGET="$(TARGET)" PROFILE="$(PROFILE)" sh tests/bench/portable.sh $^ $(B)/portable_programs

bench-host: $(B)/host #bench host matrices by every method; SHAPES="7200x1800:4 ...", MKL=1 also installs MKL
	@sh gen/deps.sh libopenblas0-pthread $(if $(MKL),python3-venv)
	@[ -z "$(MKL)" ] || [ -d $(B)/mkl ] || { $(PYTHON) -m venv $(B)/mkl && $(B)/mkl/bin/pip install -q mkl; }
	@HOST_MKL=$$(ls $(B)/mkl/lib/libmkl_rt.so.* 2> /dev/null | head -n 1) $< $(SHAPES)

bench-mpi: #bench a matrix over 4 MPI ranks against FFTW; SHAPES="11200x11200 ..." RANKS=4 ROUNDS=5 METHODS="ipt ..."
	@sh gen/deps.sh openmpi-bin libopenmpi-dev libfftw3-dev libfftw3-mpi-dev
	@SHAPES="$(SHAPES)" RANKS=$(RANKS) ROUNDS=$(ROUNDS) METHODS="$(METHODS)" sh tests/bench/mpi.sh $(B)/bench-mpi

# SHAPE=40000x25000:4 MEMORY=256M ROUNDS=3 FOLDER=build
bench-file: $(B)/ipt $(B)/file #bench an in-place file transposition with little memory against a rewrite
	@$(B)/file $(B)/ipt $(or $(FOLDER),$(B))/matrix.raw $(or $(SHAPE),40000x25000:4) $(or $(ROUNDS),3) \
	    --memory $(or $(MEMORY),256M) $(ARGUMENTS)

bench-startup: $(B)/ipt #bench contexts and plans in new processes, caches off, empty and filled; SHAPE=1000x777:4
	@$< bench $(or $(SHAPE),1000x777:4) --startup

bench-batch: $(B)/batch #bench ready actions in every model, beside a copy; ARGUMENTS="gemm:double:4 ..."
	@$< $(or $(ARGUMENTS),$(BATCH_SAMPLE))

bench-batch-choice: $(B)/batch_choice #bench the model that batch plans choose; ARGUMENTS="[CASES] [SEED] [MEGABYTES]"
	@$< $(or $(ARGUMENTS),40)

bench-plan-time: $(B)/plan_time #bench time to create a plan with cached programs, and the host's time of an execution
	@$<

bench-python: #bench ipt.transpose_ against NumPy's copy and fastremap: time and memory; SHAPE="9000 7001"
	@[ -x $(B)/python/venv/bin/python ] || $(SUBMAKE) check-python
	@$(B)/python/venv/bin/pip install -q fastremap
	@$(B)/python/venv/bin/python tests/bench/python.py $(SHAPE)

bench-drivers: $(B)/drivers #bench CUDA against OpenCL on one GPU, in turns; ARGUMENTS="[SHAPES] [SEED] [MEGABYTES]"
	@$< $(ARGUMENTS)

bench-torch: #bench ipt.permute_ against PyTorch's copies, with PyTorch's Python: PYTHON=; ARGUMENTS="--full"
	@$(PYTHON) tests/bench/torch_tensors.py $(ARGUMENTS)
