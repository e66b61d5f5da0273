/* The methods. */

/* The methods in the sequence in which they propose. A new method is a file in methods/ and a row here. */
static const ipt__method ipt__methods[] = {
#ifndef IPT_NO_PAPERS
    {"formats", 0, IPT__MOVES_MATRICES, ipt__formats_apply, NULL, ipt__formats_propose},
#endif
    {"straight", 0, IPT__MOVES_MATRICES, ipt__straight_applies, NULL, ipt__straight_propose},
#ifndef IPT_NO_PAPERS
    {"sequence", 0, IPT__MOVES_MATRICES, ipt__sequence_applies, NULL, ipt__sequence_propose},
#endif
#ifndef IPT_NO_BOXES
    {"thin", 0, IPT__MOVES_MATRICES, ipt__thin_applies, NULL, ipt__thin_propose},
#endif
    {"whole", 0, IPT__MOVES_MATRICES, ipt__whole_applies, NULL, ipt__whole_propose},
    {"on chip", 0, IPT__MOVES_MATRICES, ipt__on_chip_applies, ipt__on_chip_seek, ipt__on_chip_propose},
    {"exchange", 5, IPT__MOVES_MATRICES | IPT__MOVES_COLUMNS, ipt__exchange_applies, ipt__exchange_seek,
     ipt__exchange_propose},
#ifndef IPT_NO_BOXES
    {"boxes", 0, IPT__MOVES_ARRAYS, ipt__boxes_apply, ipt__boxes_seek, ipt__boxes_propose},
#endif
#ifndef IPT_NO_VIEWS
    {"views", 0, IPT__MOVES_VIEWS, ipt__views_apply, NULL, ipt__views_propose},
#endif
    {"two passes", 5, IPT__MOVES_MATRICES, ipt__two_pass_applies, ipt__two_pass_seek, ipt__two_pass_propose},
};
enum { IPT__METHODS = sizeof ipt__methods / sizeof *ipt__methods };
