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
    ipt_plan *copies; /* copies arrays whose first pass only works in place, for out of place; else NULL */
} ipt__passes_plan;

/* What a plan has that runs stages on its device. */
typedef struct ipt__device_plan {
    ipt__layout layout;
    ipt__plan_kernel *kernels;
    int kernel_count, kernel_capacity;
    ipt__launches launches;
    int out_of_place;               /* its launch; -1: none yet */
    ipt__program *panel, *exchange; /* of problem.panel and problem.exchange; NULL: none */
    int turn;                       /* which of the two control blocks is clear */
    int dirty;                      /* an execution failed: counters and flags may not be clear */
    ipt_plan *narrow; /* does the same in the units of an array's elements, at places that are no multiples of the
                         longer units of this plan. It borrows the workspace. NULL: the units are the elements' */
} ipt__device_plan;

/* What a plan for several contexts has. */
typedef struct ipt__split_plan {
    ipt_context **contexts;
    size_t count;
    ipt__workspace *workspaces; /* one for each; NULL: the plan borrows them */
} ipt__split_plan;

/* What a plan of a kind does. */
struct ipt__call;
typedef struct ipt__plan_kind {
    const char *takes; /* all that executions take; NULL: buffers and host matrices */
    int stores;        /* they take storages */
    int by_passes;     /* host matrices and storages go through memory once for each pass of an array */
    /* Enqueues an execution whose arguments were checked. NULL: the plan takes no buffers. */
    ipt_result (*enqueue)(ipt_plan *plan, const struct ipt__call *call, int out_of_place, cl_event *event);
    const char *(*source)(const ipt_plan *plan, size_t *index); /* see ipt__device_plan_source; NULL: none */
} ipt__plan_kind;

/* What all plans have, and what plans of some kinds have. */
struct ipt_plan {
    const ipt__plan_kind *kind;
    ipt_context *context;
    ipt__problem problem;
    char *expression;     /* copies of strings that problem.desc points to */
    cl_ulong argument[2]; /* a copy of the expression's argument, to which problem.desc points, too */
    ipt__workspace own;
    ipt__workspace *workspace; /* its own, the first one of split, or those of a plan that outlives it */
    size_t enough;             /* least limit of a workspace that is too small for the plan; 0: it is not */
    size_t refused;            /* bytes of the last buffer that could not be allocated; 0: none */
    char *description;
    ipt__device_plan *device; /* NULL: the plan has no stages of its own */
    ipt__passes_plan *passes; /* NULL: a plan for matrices */
    ipt__host_plan *host;     /* NULL: the plan serves matrices on the device only */
    ipt__cut_plan *cut;       /* NULL: the plan cuts nothing */
    ipt__split_plan *split;   /* NULL: one device */
};

static int ipt__plan_borrows(const ipt_plan *plan)
{
    return plan->workspace != &plan->own && !(plan->split && plan->workspace == plan->split->workspaces);
}

/* The number of its devices, each of which has a workspace. */
static size_t ipt__plan_devices(const ipt_plan *plan)
{
    return plan->split ? plan->split->count : 1;
}
