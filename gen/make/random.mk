# Random work, repeatable by its seed, and planted defects that it must detect.

PLANTED = CC="$(CC)" CFLAGS="$(CFLAGS)" LDLIBS="$(LDLIBS) -ldl -lm" KERNEL_FILES="$(KERNEL_FILES)" \
    sh tests/random/planted.sh
SECONDS ?= 600

.PHONY: differential differential-anew differential-planted fuzz-differential fuzz fuzz-shortly choices soak stress
.PHONY: large stress-planted imatcopy imatcopy-planted lapack columns columns-planted waves waves-planted
.PHONY: views views-planted
differential: $(B)/differential # 300 random cases over the whole interface, the same each time
	@$< --cases 300 --seed 1

differential-anew: # thousands with a new seed
	@$(SUBMAKE) fuzz-differential CASES=3000 SECONDS=600

fuzz-differential: #check random cases over the whole interface: CASES=5000 SEED= SECONDS= SANITIZE=address|thread
	@CC="$(CC)" CFLAGS="$(CFLAGS)" LDLIBS="$(LDLIBS)" SANITIZE=$(SANITIZE) sh tests/random/differential.sh \
	    $(or $(CASES),5000) "$(SEED)" "$(if $(filter command,$(origin SECONDS)),$(SECONDS))"

differential-planted: $(B)/embed #check planted defects that these cases must detect; DEFECT=NAME SEED=
	@$(PLANTED) differential "--cases 2500 --failures 1 $(if $(SEED),--seed $(SEED))" "$(DEFECT)"

fuzz-shortly: # a minute for each reader
	@$(SUBMAKE) fuzz SECONDS=60

fuzz: #check random input for every parser, SECONDS=600 each, with clang's libFuzzer
	@sh gen/deps.sh clang libclang-rt-dev
	@sh tests/fuzz/run.sh $(SECONDS)

choices: #check the planner's choices against another revision's, on simulated devices: BASE=HEAD CASES=10000 SEED=1
	@CC="$(CC)" sh tests/random/choices.sh $(or $(BASE),HEAD) $(CASES) $(SEED)

soak: $(B)/soak #check random plans for MINUTES=5; verifies every result and detects leaks; SEED= MEGABYTES=
	@$< $(or $(MINUTES),5) $(or $(SEED),0) $(or $(MEGABYTES),0)

stress: $(B)/stress #check random shapes on a busy device, repeated; ARGUMENTS="[RUNS] [SECONDS] [MEGABYTES] [SEED]"
	@$< $(ARGUMENTS)

stress-planted: $(B)/embed #check planted defects that stress detects on a large GPU; DEFECT=NAME
	@$(PLANTED) stress "1000 40" "$(DEFECT)"

large: $(B)/large #check matrices of more than 2^32 elements, on a GPU with 16 GB (IPT_DEVICE selects the GPU)
	@$<

imatcopy: $(B)/imatcopy #check random calls of examples/05_imatcopy.c against OpenBLAS; CASES=2000 SEED=
	@$< $(or $(CASES),300) $(SEED) || { [ $$? = 77 ] && \
	    $(SKIPPED) note imatcopy "the comparison needs OpenBLAS (Debian: libopenblas0-pthread)"; }

imatcopy-planted: $(B)/embed # planted defects that these calls must detect
	@$(PLANTED) imatcopy "300 $(SEED)" "$(DEFECT)"

lapack: $(B)/lapack #check random batches of ready actions against LAPACK and BLAS; CASES=2000 SEED=
	@$< $(or $(CASES),100) $(SEED) || { [ $$? = 77 ] && $(SKIPPED) note lapack \
	    "the comparison needs LAPACKE and OpenBLAS (Debian: liblapacke, libopenblas0-pthread)"; }

columns: $(B)/columns #check random arrays by permuted columns against their indices: CASES=20000 SEED= FIRST=
	@$< $(or $(CASES),30) $(or $(SEED),1) $(FIRST) || { [ $$? = 77 ] && \
	    $(SKIPPED) note columns "the device has no permuted columns"; }

waves: $(B)/columns #check the same on a CPU, which moves the columns in waves: CASES=5000 SEED= FIRST=
	@$< $(or $(CASES),150) $(or $(SEED),1) $(or $(FIRST),0) 1 || { [ $$? = 77 ] && \
	    $(SKIPPED) note waves "the device moves no columns in waves"; }

columns-planted: $(B)/embed # planted defects that these arrays must detect
	@$(PLANTED) columns "100 $(or $(SEED),1)" "$(or $(DEFECT),^bands)"

waves-planted: $(B)/embed # the same, in waves
	@$(PLANTED) columns "100 $(or $(SEED),1) 0 1" "$(or $(DEFECT),^waves)"

views: $(B)/views #check random arrays with strides against their indices, every byte: CASES=2000 SEED= FIRST=
	@$< $(or $(CASES),60) $(or $(SEED),1) $(FIRST)

views-planted: $(B)/embed # planted defects that these arrays must detect
	@$(PLANTED) views "200 $(or $(SEED),1)" "$(DEFECT)"
