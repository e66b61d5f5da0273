/* The plan. */

typedef struct ipt__plan_kernel {
    ipt__program *program;
    cl_kernel kernel;
    int is_set; /* the kernel has the arguments below */
    ipt__arguments set;
} ipt__plan_kernel;

/* Device memory for stages. A plan owns it, and lends it to its plans of passes, parts or pieces. Its size is the
 * largest need of these plans. Executions that share a workspace take turns. */
typedef struct ipt__workspace {
    IPT_LOCK_TYPE lock; /* guards the following fields, and the plans that use the workspace, but not their host_plan */
    cl_mem buffer;      /* NULL: no stage needs a workspace */
    size_t bytes, limit; /* limit: the most bytes for a plan, as max_workspace */
    int later;           /* new plans leave the allocation to ipt__host_take */
    size_t unit_most;    /* the most bytes of a unit of new plans that borrow the workspace */
    cl_event last;       /* of the previous execution, which may still use the buffer; NULL: none */
    ipt_plan *borrower;  /* plan that used the buffer last; NULL: none */
    int captured;        /* a graph has commands that use the buffer */
} ipt__workspace;

enum { IPT__MOST_PASSES = IPT_MAX_RANK }; /* over an array, without an expression's: see ipt__axes_extend */

/* One pass over arrays. */
typedef struct ipt__pass_plan {
    ipt_plan *plan;
    size_t repeats, apart; /* executions, and the bytes from one to the next */
} ipt__pass_plan;

/* The part of a plan that runs several passes over arrays. Such a plan has no stages of its own. */
typedef struct ipt__passes_plan {
    ipt__pass_plan list[IPT__MOST_PASSES + 1];
    int count;
    ipt_plan *copies;   /* out of place, copies the arrays before a first pass that only works in place; else NULL */
    int copies_permute; /* no pass follows */
} ipt__passes_plan;

/* The part of a plan that runs stages on its device. */
typedef struct ipt__device_plan {
    ipt__layout layout;
    ipt__plan_kernel *kernels;
    int kernel_count, kernel_capacity;
    ipt__launches launches;
    int out_of_place;               /* index of the launch out of place; -1: none yet */
    ipt__program *panel, *exchange; /* of problem.panel and problem.exchange; NULL: none */
    int turn;                       /* which of the two control blocks is clear */
    int dirty;                      /* an execution failed: counters and flags may not be clear */
    ipt_plan *narrow; /* a plan with the units of an array's elements. It serves places that are no multiples of this
                         plan's longer units, and borrows the workspace. NULL: both plans would have equal units */
} ipt__device_plan;

/* The part of a plan that uses several contexts. */
typedef struct ipt__split_plan {
    ipt_context **contexts;
    size_t count;
    ipt__workspace *workspaces; /* one for each context; NULL: the plan borrows them */
} ipt__split_plan;

/* The properties of plans of one kind. */
struct ipt__call;
typedef struct ipt__plan_kind {
    int by_passes; /* host matrices and storages go through memory once for each pass of an array */
    /* Enqueues an execution whose arguments were checked. NULL: the plan takes no buffers. */
    ipt_result (*enqueue)(ipt_plan *plan, const struct ipt__call *call, int out_of_place, cl_event *event);
    const char *(*source)(const ipt_plan *plan, size_t *index); /* see ipt__device_plan_source; NULL: none */
} ipt__plan_kind;

/* A plan: fields of all plans, then parts that only some plans have. */
struct ipt_plan {
    const ipt__plan_kind *kind;
    ipt_context *context;
    ipt__problem problem;
    char *expression;     /* copies of strings that problem.desc points to */
    cl_ulong argument[2]; /* a copy of the expression's argument, to which problem.desc points, too */
    ipt__workspace own;
    ipt__workspace *workspace; /* &own, split->workspaces, or the workspaces of a plan that outlives this plan */
    size_t enough;             /* the least sufficient limit of a workspace whose limit is too low; 0: it suffices */
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

/* The number of a plan's devices. Each device has a workspace. */
static size_t ipt__plan_devices(const ipt_plan *plan)
{
    return plan->split ? plan->split->count : 1;
}
