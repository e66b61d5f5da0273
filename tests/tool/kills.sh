#!/bin/sh
# Kills of `ipt transpose` at random moments: in place, to another file, to a picture. After each kill, the file is unchanged,
# complete or can be resumed, the output is the old or the new one, foreign files are unchanged, and no other file remains. Then
# two users and two containers in one folder, and an output that is a mount point: these need root and are skipped otherwise.
# Usage, from the repository's root: tests/tool/kills.sh TOOL FOLDER KILLS
set -eu
[ $# = 3 ] || { echo "usage: tests/tool/kills.sh TOOL FOLDER KILLS"; exit 2; }
tool=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") kills=$3
root=$(pwd)
mkdir -p "$2"
env --default-signal=INT true 2> /dev/null || { sh tests/skipped.sh note kills "env has no --default-signal"; exit 0; }
folder=$(cd "$2" && mktemp -d "$PWD/XXXXXX")
IPT_CACHE_DIR=$folder/cache
export IPT_CACHE_DIR
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
mkdir "$folder/work"
${CC:-gcc} -std=gnu99 -Wall -Wextra -shared -fPIC -o "$folder/named_drafts.so" tests/tool/named_drafts.c -ldl || exit 1
cd "$folder/work"

fail() {
    echo "kills: $*"
    ls -la . >&2
    cat "$folder/log" >&2
    exit 1
}

skip() { # REASON
    (cd "$root" && sh tests/skipped.sh note "kills" "$1")
}

# Files of a user, some with the names of drafts and journals.
foreign="a.raw.ipt-journal.new o.raw.1.tmp o.png.1.tmp ipt-draft-0123456789abcdef.tmp notes"
make_foreign() { for name in $foreign; do echo "notes of a user: $name" > "$name"; done; }
expect_only() { # FILE...: exactly these and the foreign files exist
    for name in $foreign; do
        [ "$(cat "$name")" = "notes of a user: $name" ] || fail "$name has changed"
    done
    # shellcheck disable=SC2086
    [ "$(ls -A | sort)" = "$(printf '%s\n' $foreign "$@" | sort)" ] || fail "$1: something remains, or is lost"
}

random() { od -An -N2 -tu2 /dev/urandom | tr -d ' '; }
kill_one() { # NUMBER MILLISECONDS ARGUMENTS: runs the tool and sends it a signal at a random moment
    case $(($1 % 4)) in 0) signal=TERM by=143 ;; 1) signal=INT by=130 ;; *) signal=KILL by=137 ;; esac
    moment=$(($(random) % $2)) code=0
    shift 2
# The shell makes background processes ignore SIGINT.
    env --default-signal=INT ${preload:+LD_PRELOAD="$preload"} "$tool" transpose "$@" > "$folder/log" 2>&1 &
    sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
    kill -s $signal $! 2> /dev/null || :
    { wait $! || code=$?; } 2> /dev/null
    [ $code = 0 ] || [ $code = $by ] || fail "$signal after $moment ms: exit code $code"
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

preload=
rows=2001 cols=3000
head -c $((rows * cols * 4)) /dev/urandom > ../before
cp ../before ../after
"$tool" transpose ../after --raw ${rows}x${cols}:4 > "$folder/log" 2>&1 || fail "the tool itself"
head -c $((rows * cols * 4)) /dev/urandom > ../old
{ printf 'P6\n1500 1000\n255\n'; head -c 4500000 /dev/urandom; } > ../picture.ppm
"$tool" transpose ../picture.ppm -o ../picture.png > "$folder/log" 2>&1 && pictures=png || pictures=pam # no stb
"$tool" transpose ../picture.ppm -o ../picture.$pictures > "$folder/log" 2>&1 || fail "the tool itself on a picture"

# In place.
make_foreign
cp ../before a.raw
begin=$(milliseconds)
"$tool" transpose a.raw --raw ${rows}x${cols}:4 --matrix-memory 1M > "$folder/log" 2>&1 || fail "the tool itself"
whole=$(($(milliseconds) - begin + 20))
i=0 resumed=0 unchanged=0 done=0
while [ $i -lt "$kills" ]; do
    i=$((i + 1))
    cp ../before a.raw
    kill_one $i $whole a.raw --raw ${rows}x${cols}:4 --matrix-memory 1M
    if [ -e a.raw.ipt-journal ]; then
        [ "$(stat -c %a a.raw.ipt-journal)" = 600 ] || fail "kill $i: others can read the journal"
        if "$tool" transpose --resume a.raw > "$folder/log" 2>&1; then
            cmp -s ../after a.raw || fail "kill $i by $signal: wrong after --resume"
            resumed=$((resumed + 1))
        else
            grep -q "start it again" "$folder/log" || fail "kill $i by $signal: --resume"
            cmp -s ../before a.raw || fail "kill $i by $signal: lost"
            unchanged=$((unchanged + 1))
        fi
    elif cmp -s ../before a.raw; then
        unchanged=$((unchanged + 1))
    else
        cmp -s ../after a.raw || fail "kill $i by $signal: lost"
        done=$((done + 1))
    fi
    expect_only a.raw
    rm a.raw
done
[ "$kills" = 0 ] || echo "kills: in place, $kills kills: $unchanged unchanged, $resumed resumed, $done had ended; nothing remains"

# To another file, which already exists in every second case.
outputs() { # WHAT INPUT OUTPUT EXPECTED ARGUMENTS
    what=$1 input=$2 output=$3 expected=$4
    shift 4
    cp "../$input" in
    rm -f a.raw
    begin=$(milliseconds)
    "$tool" transpose in -o "$output" "$@" > "$folder/log" 2>&1 || fail "$what: the tool itself"
    whole=$(($(milliseconds) - begin + 20))
    i=0 old=0 new=0 left=0
    while [ $i -lt "$kills" ]; do
        i=$((i + 1)) before=
        rm -f "$output"
        [ $((i / 4 % 2)) = 0 ] || { cp ../old "$output"; before=$output; }
        kill_one $i $whole in -o "$output" "$@"
        cmp -s "../$input" in || fail "$what, kill $i by $signal: the input has changed"
# A kill leaves a draft only if drafts have names, or while the draft gets its name.
        for draft in ipt-draft-*; do
            case " $foreign " in *" $draft "*) continue ;; esac
            [ $signal = KILL ] || fail "$what, kill $i: $signal leaves a draft"
            left=$((left + 1))
            rm "$draft"
        done
        if [ -e "$output" ] && cmp -s "../$expected" "$output"; then
            new=$((new + 1)) before=$output
        elif [ -n "$before" ]; then
            cmp -s ../old "$output" || fail "$what, kill $i by $signal: the old output is lost"
            old=$((old + 1))
        elif [ -e "$output" ]; then
            fail "$what, kill $i by $signal: a part of an output"
        else
            old=$((old + 1))
        fi
        # shellcheck disable=SC2086
        expect_only in $before
        "$tool" transpose in -o "$output" "$@" > "$folder/log" 2>&1 || fail "$what, kill $i by $signal: the next run"
        cmp -s "../$expected" "$output" || fail "$what, kill $i by $signal: the next run is wrong"
    done
    rm -f "$output" in
    [ "$kills" = 0 ] || echo "kills: $what, $kills kills: $old times the output as before, $new times the new one, $left drafts remained"
}
outputs "to another file" before o.raw after --raw ${rows}x${cols}:4 --matrix-memory 1M
outputs "to a picture" picture.ppm o.$pictures picture.$pictures
preload=$folder/named_drafts.so
outputs "to another file, whose draft has a name" before o.raw after --raw ${rows}x${cols}:4 --matrix-memory 1M
preload=

# Two users in one folder that both can write, with a journal of each kind.
cd "$folder"
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
    mkdir -m 777 shared
    mkdir home
    chown 12341 home
    chmod 755 "$folder"
    cp "$tool" ipt
    as() { # USER ARGUMENTS of ipt
        user=$1
        shift
        setpriv --reuid="$user" --regid="$user" --clear-groups env HOME="$folder/home" TMPDIR="$folder/home" POCL_CACHE_DIR="$folder/home" IPT_CACHE_DIR=none "$folder/ipt" "$@" > "$folder/log" 2>&1
    }
    reach=1
    setpriv --reuid=12341 --regid=12341 --clear-groups test -x "$folder/ipt" || reach=
    if [ -z "$reach" ]; then
        skip "two users: other users cannot reach $folder"
    else
        cd shared
        owned() { cp ../before a.raw && chown 12341:12341 a.raw && chmod 600 a.raw; }
        cd ..
        (cd shared && owned && : > a.raw.ipt-journal.new && chown 12342 a.raw.ipt-journal.new)
        as 12341 transpose shared/a.raw --raw ${rows}x${cols}:4 || fail "two users: a foreign file of the old name"
        [ ! -s shared/a.raw.ipt-journal.new ] || fail "two users: the file was written to another user's file"
        (cd shared && owned && echo forged > a.raw.ipt-journal && chown 12342:12342 a.raw.ipt-journal && chmod 666 a.raw.ipt-journal)
        if as 12341 transpose shared/a.raw --raw ${rows}x${cols}:4; then fail "two users: took another user's journal"; fi
        if as 12341 transpose --resume shared/a.raw; then fail "two users: resumed another user's journal"; fi
        grep -q "another user" "$folder/log" || fail "two users: what it says"
        cmp -s before shared/a.raw || fail "two users: the file has changed"
        rm shared/a.raw.ipt-journal
        echo "kills: two users: another one's journals are neither written nor resumed"
    fi
else
    skip "two users: needs root and setpriv"
fi

# Two containers with one output, in each of which ipt is process 1; and an output that is a mount point.
cd "$folder"
if unshare -p -f --mount-proc true 2> /dev/null; then
    mkdir containers
    cd containers
    cp ../before m.raw
    i=0
    while [ $i -lt $((kills / 10 + 1)) ]; do
        i=$((i + 1))
        for run in 1 2; do
            unshare -p -f --mount-proc "$tool" transpose m.raw --raw ${rows}x${cols}:4 -o o.raw --matrix-memory 1M > "$folder/log$run" 2>&1 &
            eval "run$run=$!"
        done
        # shellcheck disable=SC2154
        wait "$run1" && wait "$run2" || fail "two containers: $(cat "$folder/log1" "$folder/log2")"
        cmp -s ../after o.raw || fail "two containers: a wrong output"
        [ "$(ls -A | tr '\n' ' ')" = "m.raw o.raw " ] || fail "two containers: something remains"
    done
    echo "kills: two containers, $i times at once to one output: right"
    echo mounted > ../mounted
    unshare -m sh -c 'mount --bind ../mounted o.raw && ! "$0" transpose m.raw --raw "$1" -o o.raw 2> "$2" && grep -q "mount point" "$2"' \
        "$tool" ${rows}x${cols}:4 "$folder/log" || fail "an output that is a mount point"
    [ "$(cat ../mounted)" = mounted ] || fail "a mounted output was written"
    echo "kills: an output that is a mount point: refused before the work"
else
    skip "two containers: unshare is not permitted here"
fi
