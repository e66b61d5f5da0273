#include "arguments.h"

setup arguments_setup(const arguments *given)
{
    const setup taken = {given->device, given->cache, given->wisdom, given->profile,
                         given->expression != NULL || given->action_count > 0};
    return taken;
}

ipt_plan_desc arguments_describe(const arguments *given)
{
    static const char some_argument[] = "1111111111111111"; /* no command with --argument-type executes the plan */
    ipt_plan_desc desc = {0};
    setup_shape(&desc, &given->shape);
    setup_expression(&desc, given->expression, given->expression_type);
    desc.batch = given->batch;
    desc.flags = (given->measure ? IPT_MEASURE : IPT_ESTIMATE) | (given->no_cooperative ? IPT_NO_COOPERATIVE : 0) |
                 (given->pad ? IPT_PAD : 0) | (given->out_of_place ? IPT_OUT_OF_PLACE : 0);
    desc.max_workspace = given->workspace;
    desc.sequence = given->sequence;
    desc.heuristic = given->heuristic;
    desc.method = given->method;
    desc.tile_m = given->tile_m;
    desc.tile_n = given->tile_n;
    desc.variant_010 = given->variant_010;
    desc.variant_100 = given->variant_100;
    desc.variant_pad = given->variant_pad;
    desc.flag_spread = given->flag_spread;
    desc.from = given->from;
    desc.to = given->to;
    desc.move = given->move;
    if (given->argument_type != NULL) {
        desc.expression_argument = some_argument;
        desc.expression_argument_type = given->argument_type;
    }
    return desc;
}
