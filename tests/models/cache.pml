/* A file of the cache: ipt.h, ipt__folder_store with ipt__file_write and ipt__file_rename (two writers),
 * ipt__entry_on_disk with ipt__file_open and ipt__file_read (a reader, again and again), ipt__folder_clean (with
 * CLEANER).
 *
 * As in ipt.h: a temporary name that nobody has, the next one if it is taken; the parts of the entry one after the
 * other; flush; rename; a writer that cannot write or rename removes the temporary name. The reader opens, and reads
 * part by part while the writers continue. A writer may be killed at any point, and the machine may stop once at any point:
 * then parts that were not flushed may be lost, each for itself, and so may renames. Both writers have the same
 * process number, as on two machines or in two containers that share the folder, unless there is CLEANER.
 *
 * What is left out, and why nothing is lost by that:
 * - The checksum. What the reader gets is asserted to be whole without it.
 * - A file has two parts; more of them only give more mixtures. Size and content come together: a file that is short
 *   has an empty part.
 * - Names stand for what they lead to; open, create-if-new and rename are one step each, as POSIX and Windows have it.
 * - With CLEANER temporary files seem stale at any time, so one that is being written may go. Writers have different
 *   process numbers then: see CLEANER_SAME_NUMBER.
 *
 * Known to be bad:
 * NO_RENAME            the entry is written in its place
 * NO_EXCLUSIVE         a temporary file that is there already is written, too (guard: O_EXCL, CREATE_NEW)
 * NO_FLUSH             the file is not flushed before it is renamed, and the machine stops (guard: fsync)
 * CLEANER_SAME_NUMBER  the cleaner removes what a slow writer writes, another writer takes the same name, and the
 *                      first one renames it: takes an hour, and the checksum finds it */
#ifndef OLD
#define OLD 1 /* 1: there is an entry already */
#endif

#define NONE 9
#define ATTEMPTS 2
#if defined(CLEANER) && !defined(CLEANER_SAME_NUMBER)
#define TEMPORARY(attempt) temporary[writer * ATTEMPTS + (attempt)]
#else
#define TEMPORARY(attempt) temporary[attempt]
#endif
#define PART(file, part) parts[(file) * 2 + (part)]

byte parts[6];     /* of the old file and of those of the writers: 0: empty or lost; else whose it is */
byte flushed = 1;  /* files */
byte entry = NONE; /* the file that the entry's name leads to */
byte temporary[2 * ATTEMPTS];
byte been;         /* files that the entry's name has led to; bit 7: none */
bool stopped;      /* the machine has, once */

#define EITHER_DIES if :: goto dead :: !stopped fi

proctype writes(byte writer)
{
    byte attempt, file = writer + 1, part;
    bool failed;
#ifdef NO_RENAME
    atomic {
        EITHER_DIES;
        if
        :: entry == NONE -> entry = file
        :: else -> file = entry /* emptied */
        fi;
        PART(file, 0) = 0;
        PART(file, 1) = 0;
        flushed = flushed & ~(1 << file)
    };
#else
    do
    :: atomic {
        EITHER_DIES;
        if
        :: TEMPORARY(attempt) == NONE ->
            TEMPORARY(attempt) = file;
            break
        :: TEMPORARY(attempt) != NONE ->
#ifdef NO_EXCLUSIVE
            file = TEMPORARY(attempt);
            break
#else
            attempt++;
            if
            :: attempt == ATTEMPTS -> goto dead
            :: else
            fi
#endif
        fi
       }
    od;
#endif
    do
    :: part < 2 ->
        atomic {
            EITHER_DIES;
            if
            :: PART(file, part) = writer + 2; part++
            :: failed = true; part = 2 /* the disk is full */
            fi
        }
    :: else -> break
    od;
#ifndef NO_FLUSH
    atomic {
        EITHER_DIES;
        if
        :: !failed -> flushed = flushed | 1 << file
        :: else
        fi
    };
#endif
#ifndef NO_RENAME
    atomic {
        EITHER_DIES;
        if
        :: !failed && TEMPORARY(attempt) != NONE ->
            entry = TEMPORARY(attempt);
            TEMPORARY(attempt) = NONE;
            been = been | 1 << entry
        :: else -> failed = true
        fi
    };
    atomic {
        EITHER_DIES;
        if
        :: failed -> TEMPORARY(attempt) = NONE
        :: else
        fi
    };
#endif
dead:
    skip
}

#if defined(CLEANER) || defined(CLEANER_SAME_NUMBER)
active proctype cleaner()
{
    byte i;
end:
    do
    :: atomic {
        !stopped ->
            i = 0;
            do
            :: i < 2 * ATTEMPTS - 1 -> i++
            :: temporary[i] = NONE; break
            od;
            i = 0
       }
    :: atomic {
        !stopped -> /* the oldest entry, beyond the limit */
            entry = NONE;
            been = been | 128
       }
    od
}
#endif

/* Stops the machine, and starts it again. */
proctype stop()
{
    byte i;
    atomic {
        stopped = true;
        if /* any of the files that the name has led to */
        :: been & 1 -> entry = 0
        :: been & 2 -> entry = 1
        :: been & 4 -> entry = 2
        :: been & 128 -> entry = NONE
        fi;
        do
        :: i < 6 ->
            if
            :: true
            :: !((flushed >> (i / 2)) & 1) -> parts[i] = 0
            fi;
            i++
        :: else -> break
        od;
        i = 0
    }
}

proctype reads()
{
    byte file, first, second;
    bool before;
end:
    do
    :: atomic {
        file = entry;
        before = stopped;
#if OLD && !defined(CLEANER) && !defined(CLEANER_SAME_NUMBER)
        assert(file != NONE)
#endif
       };
       if
       :: file != NONE ->
            first = PART(file, 0);
            atomic {
                second = PART(file, 1);
                /* A reader that ran when the machine stopped does not continue. */
                assert(before != stopped || (first != 0 && first == second));
            };
            first = 0;
            second = 0
       :: else
       fi;
       file = 0
    od
}

init
{
    atomic {
        temporary[0] = NONE;
        temporary[1] = NONE;
        temporary[2] = NONE;
        temporary[3] = NONE;
        been = 128;
#if OLD
        entry = 0;
        been = 1;
        PART(0, 0) = 1;
        PART(0, 1) = 1;
#endif
        run writes(0);
        run writes(1);
        run reads();
        run stop()
    }
}
