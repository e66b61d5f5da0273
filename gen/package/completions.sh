# Prints the completions of the tool for a shell, from its own help: completions.sh TOOL bash|zsh|fish
set -eu
tool=$1 shell=$2

# Help with each entry in one line. A further line of an entry begins with more spaces than a name does.
joined() { # WORD...: of the help of these words
    "$tool" help "$@" | awk '
        function flush() { if (has) print line; has = 0 }
        has && /^      / { sub(/^ +/, ""); line = line " " $0; next }
        { flush(); line = $0; has = 1 }
        END { flush() }'
}

commands() { # NAME<tab>WHAT IT DOES
    joined | awk '
        /^commands:/ { inside = 1; next }
        /^$/ { inside = 0 }
        inside { name = $1; text = substr($0, 28); print name "\t" text }'
}

options() { # COMMAND: --NAME<tab>VALUE or nothing<tab>WHAT IT DOES
    joined "$1" | awk '
        /^options:/ { inside = 1; next }
        inside && /^  -/ {
            left = substr($0, 3, 24); text = substr($0, 28)
            if (match($0, /^  --?[^ ]+( [^ ]+)?  ?/) && RLENGTH > 27) text = substr($0, RLENGTH + 1)
            split(left, word, " ")
            print word[1] "\t" (word[2] == "" ? "" : word[2]) "\t" text
        }'
}

values() { # LIST: the names in the line "LIST: ..." of the help of plan
    joined plan | sed -n "s/^$1: //p"
}

case $shell in
bash)
    echo '# Completions of ipt for bash, made from its help.'
    echo '_ipt() {'
    echo '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words='
    echo '    case $before in'
    echo "    --move) words='$(values moves)' ;;"
    echo "    --sequence) words='$(values sequences)' ;;"
    echo "    --variant-010 | --variant-100 | --variant-pad) words='$(values kernels)' ;;"
    echo "    --from | --to) words='$(values formats)' ;;"
    echo "    --order) words='C F' ;;"
    echo "    --action) words='$(values actions | sed 's/:[a-z]*//g')' ;;"
    echo '    esac'
    echo '    if [ -z "$words" ] && [ "$COMP_CWORD" = 1 ]; then'
    echo "        words='$(commands | cut -f 1 | tr '\n' ' ')--help --version'"
    echo '    elif [ -z "$words" ] && [ "${word#-}" != "$word" ]; then'
    echo '        case ${COMP_WORDS[1]} in'
    commands | cut -f 1 | while read -r name; do
        [ "$name" = help ] || echo "        $name) words='$(options "$name" | cut -f 1 | tr '\n' ' ')' ;;"
    done
    echo '        esac'
    echo '    fi'
    echo '    COMPREPLY=($(compgen -W "$words" -- "$word"))'
    echo '}'
    echo 'complete -o default -F _ipt ipt'
    ;;
zsh)
    echo '#compdef ipt'
    echo '# Completions of ipt for zsh, made from its help.'
    echo '_ipt() {'
    echo '    local -a commands'
    echo '    commands=('
    commands | sed "s/'/'\\\\''/g; s/:/\\\\:/g" | while IFS="$(printf '\t')" read -r name text; do echo "        '$name:$text'"; done
    echo '    )'
    echo '    if ((CURRENT == 2)); then _describe command commands; return; fi'
    echo '    case $words[2] in'
    commands | cut -f 1 | while read -r name; do
        [ "$name" != help ] || continue
        echo "    $name)"
        echo '        _arguments \'
        options "$name" | sed "s/'/'\\\\''/g; s/[]:[]/\\\\&/g" | awk -F '\t' '{
            print "            \047" $1 "[" $3 "]" ($2 == "" ? "" : ":" $2 ":_files") "\047 \\" }'
        echo "            '*:file:_files'"
        echo '        ;;'
    done
    echo '    esac'
    echo '}'
    echo '_ipt "$@"'
    ;;
fish)
    echo '# Completions of ipt for fish, made from its help.'
    commands | sed "s/'/\\\\'/g" | while IFS="$(printf '\t')" read -r name text; do
        echo "complete -c ipt -n __fish_use_subcommand -f -a $name -d '$text'"
    done
    commands | cut -f 1 | while read -r name; do
        [ "$name" != help ] || continue
        options "$name" | sed "s/'/\\\\'/g" | awk -F '\t' -v name="$name" '{
            long = $1 ~ /^--/
            print "complete -c ipt -n \047__fish_seen_subcommand_from " name "\047 " (long ? "-l " : "-s ") \
                substr($1, long ? 3 : 2) ($2 == "" ? "" : " -r") " -d \047" $3 "\047" }'
    done
    ;;
*)
    echo "completions.sh: $shell is no shell it knows: bash, zsh or fish" >&2
    exit 2
    ;;
esac
