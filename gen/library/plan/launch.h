/* Launches: the commands of stages, fixed with the plan. An execution adds its buffers, their offsets and the turn. */

/* One command. Its arguments are for the first instance of a batch at the start of the execution's buffer. The
 * arguments begin with the base of each buffer that an execution may give. */
typedef struct ipt__launch {
    int kernel;                 /* index in the plan; -1: no kernel, clears workspace */
    int by_units, by_words;     /* serves offsets that are not aligned to words; offsets that are */
    size_t matrices, instances; /* how many the command moves */
    unsigned given;             /* bit i: the execution gives buffer i of the kernel; 0: it is the workspace */
    int cooperative;            /* waits for other work-groups, and uses the turn's control block */
    size_t control, clear;      /* offsets in the arguments of this turn's block and the next turn's */
    size_t plan_units;          /* number of the plan's units in one unit of the kernel */
    cl_ulong instance_units;    /* distance of instances in the given buffer; 0: the next field counts */
    cl_ulong instance_slots;    /* for kernel copy: the distance in slots */
    size_t offset;              /* in the workspace, of the bytes to clear */
    size_t bytes;               /* to clear, or of local memory */
    cl_ulong groups;            /* number of work-groups */
    ipt__arguments arguments;
} ipt__launch;

/* Makes a launch cooperative. */
#define IPT__LAUNCH_WAITS(launch, kernel)                                                                              \
    ((launch).cooperative = 1, (launch).control = offsetof(ipt__##kernel##_arguments, control_base),                   \
     (launch).clear = offsetof(ipt__##kernel##_arguments, clear_base))

/* The launches of a stage, and its turns: the commands of a turn have its numbers of matrices and instances. */
typedef struct ipt__turns {
    int first, end; /* in the list */
    size_t matrices, matrices_at_once;
    size_t instances, instances_at_once; /* per matrix */
    cl_ulong matrix_stride;              /* the plan's units */
    int backwards;                       /* the last instances first */
} ipt__turns;

typedef struct ipt__launches {
    ipt__turns stages[IPT__MAX_STAGES];
    int stage_count;
    ipt__launch *items;
    int count, capacity;
} ipt__launches;

static void ipt__launches_free(const ipt_allocator *allocator, ipt__launches *launches)
{
    ipt__release(allocator, launches->items);
    memset(launches, 0, sizeof *launches);
}

/* Adds a copy of a launch. */
static ipt_result ipt__launches_add(const ipt_allocator *allocator, ipt__launches *launches, const ipt__launch *launch)
{
    if (launches->count == launches->capacity) {
        const int capacity = launches->capacity ? 2 * launches->capacity : 8;
        ipt__launch *const items = (ipt__launch *)ipt__allocate(allocator, (size_t)capacity * sizeof *items);
        if (!items)
            return IPT_ERROR_OUT_OF_MEMORY;
        if (launches->count)
            memcpy(items, launches->items, (size_t)launches->count * sizeof *items);
        ipt__release(allocator, launches->items);
        launches->items = items;
        launches->capacity = capacity;
    }
    launches->items[launches->count++] = *launch;
    return IPT_SUCCESS;
}
