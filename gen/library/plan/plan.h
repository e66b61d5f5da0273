/* The plan. */

typedef struct ipt__plan_kernel {
    ipt__program *program;
    cl_kernel kernel;
    int is_set; /* the kernel has the arguments below */
    ipt__arguments set;
} ipt__plan_kernel;

/* Device memory for stages, which a plan owns, and lends to the plans that it consists of. It is as large as the
 * largest of them needs. Executions of all plans that share it take turns. */
typedef struct ipt__workspace {
    IPT_LOCK_TYPE lock;  /* guards the following fields, and all of the plans but their host_plan */
    cl_mem buffer;       /* NULL: no stage needs one */
    size_t bytes, limit; /* limit: for each of the plans, as max_workspace */
    int later;           /* plans that borrow it from now on need its bytes later: ipt__host_take */
    size_t unit_most;    /* bytes of the units of plans that borrow it from now on, at most */
    cl_event last;       /* of the previous execution, which may still use the buffer; NULL: none */
    ipt_plan *borrower;  /* plan that used the buffer last; NULL: none */
} ipt__workspace;

enum { IPT__MOST_PASSES = 8 }; /* over arrays of IPT_MAX_RANK axes, double ones twice, without an expression's */

/* One pass over arrays. */
typedef struct ipt__pass_plan {
    ipt_plan *plan;
    size_t repeats; /* executions, a batch_stride of the arrays apart */
} ipt__pass_plan;

/* What a plan of several passes over arrays has. It has no stages of its own. */
typedef struct ipt__passes_plan {
    ipt__pass_plan list[IPT__MOST_PASSES + 1];
    int count;
    int cut;          /* the array is too large for the device: each pass goes through host memory by itself */
    ipt_plan *copies; /* copies arrays whose first pass only works in place, for out of place; else NULL */
} ipt__passes_plan;

struct ipt_plan {
    ipt_context *context;
    ipt__problem problem;
    char *expression;     /* copies of strings that problem.desc points to */
    cl_ulong argument[2]; /* a copy of the expression's argument, to which problem.desc points, too */
    ipt__layout layout;
    ipt__workspace own, *divided; /* divided: one for each device of a plan for several; else NULL */
    ipt__workspace *workspace;    /* its own or the first divided one, or those of a plan that outlives it */
    size_t devices;
    ipt__plan_kernel *kernels;
    int kernel_count, kernel_capacity;
    ipt__launches launches;
    int out_of_place;               /* its launch; -1: none yet */
    ipt__program *panel, *exchange; /* of problem.panel and problem.exchange; NULL: none */
    int turn;                       /* which of the two control blocks is clear */
    int dirty;                      /* an execution failed: counters and flags may not be clear */
    size_t enough;                  /* least limit of a workspace that is too small for the plan; 0: it is not */
    size_t refused;                 /* bytes of the last buffer that could not be allocated; 0: none */
    char *description;
    ipt_plan *narrow; /* does the same in the units of an array's elements, at places that are no multiples of the
                         longer units of this plan. It borrows the workspace. NULL: the units are the elements' */
    ipt__passes_plan *passes; /* NULL: a plan for matrices */
    ipt__host_plan *host;     /* NULL: the plan serves matrices on the device only */
};

static int ipt__plan_borrows(const ipt_plan *plan)
{
    return plan->workspace != &plan->own && plan->workspace != plan->divided;
}
