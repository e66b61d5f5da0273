/* Wisdom about batches: the model that IPT_MEASURE found, for an action, its operands and their number. */

#ifndef IPT_NO_WISDOM

/* The key of a batch's wisdom: a hash of all inputs of the program's text except the choice. */
static IPT__RARE ipt_result ipt__batch_wisdom_of(const ipt_batch *batch, const ipt_batch_desc *desc,
                                                 ipt__wisdom *wisdom)
{
    const ipt_allocator *const allocator = &batch->context->allocator;
    char *key, *action;
    const ipt_result result = ipt__batch_texts(allocator, &batch->problem, desc, IPT__BATCH_KEY, &key, &action);
    memset(wisdom, 0, sizeof *wisdom);
    wisdom->batch = batch->problem.count;
    if (!result)
        ipt__hash_text(key, strlen(key), wisdom->action, sizeof wisdom->action - 1);
    ipt__release(allocator, key);
    ipt__release(allocator, action);
    return result;
}

/* Applies the wisdom for this plan, if there is any and the device can run it. */
static IPT__RARE int ipt__batch_apply_wisdom(ipt_batch *batch, const ipt__wisdom *wanted)
{
    ipt__batch_choice choice;
    ipt__wisdom found;
    char why[160];
    if (!ipt__wisdom_find(batch->context, wanted, &found))
        return 0;
    if (!ipt__batch_try(&batch->problem, (ipt_model)found.model, found.lanes, found.group_size, &choice, why)) {
        ipt__batch_set_choice(batch, &batch->choice); /* the trial has moved the operands */
        return 0;
    }
    batch->choice = choice;
    return 1;
}

static IPT__RARE void ipt__batch_keep_wisdom(ipt_batch *batch, const ipt__wisdom *key)
{
    ipt__wisdom learnt = *key;
    learnt.model = (size_t)batch->choice.model;
    learnt.lanes = batch->choice.lanes;
    learnt.group_size = batch->choice.group_size;
    ipt__wisdom_add(batch->context, &learnt); /* out of memory: the result is not recorded */
}

#endif
