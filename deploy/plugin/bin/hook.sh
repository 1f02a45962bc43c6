#!/bin/sh
# Tell Cairn what an agent does, and print what it gives back: hook.sh PROGRAM [EVENT] [SECONDS]
# Needs sh and curl. Reads the program's payload from its input. Whatever goes wrong: silence.
[ "${CAIRN_OFF:-0}" = 0 ] || exit 0
host=${CLAUDE_PLUGIN_OPTION_HOST:-${CAIRN_URL:-}}
token=${CLAUDE_PLUGIN_OPTION_TOKEN:-${CAIRN_TOKEN:-}}
project=${CLAUDE_PLUGIN_OPTION_PROJECT:-${CAIRN_PROJECT:-}}
kept=${XDG_CONFIG_HOME:-${HOME:-}/.config}/cairn/config.toml
if [ -z "$host$token" ] && [ -r "$kept" ]; then # what `cairn login` keeps; a token goes to its own address
    # Its project is not read: hooks run in every folder, and the work of others is not that project's.
    while IFS=' =' read -r name value; do
        value=${value#\"}
        value=${value%\"}
        case $name in
            url) host=$value ;;
            token) token=$value ;;
        esac
    done <"$kept"
fi
[ -n "$1" ] && [ -n "$host" ] && [ -n "$token" ] || exit 0
folder=${CLAUDE_PROJECT_DIR:-.}
origin=$(git -C "$folder" remote get-url origin 2>/dev/null)
{ read -r root; read -r head; read -r branch; } <<END
$(git -C "$folder" rev-parse --show-toplevel HEAD --abbrev-ref HEAD 2>/dev/null)
END
told() { cat; }
send() { :; }
case ${2:-} in Stop | SessionEnd)
    payload=$(cat)
    told() { printf '%s' "$payload"; }
    ! command -v cairn >/dev/null || send() ( # SECONDS ARGUMENT…: what was said between tools, without secrets
        exec >/dev/null 2>&1
        seconds=$1
        shift
        CAIRN_URL=$host CAIRN_TOKEN=$token cairn -q hook "$@" <<END &
$payload
END
        sent=$!
        ( # no `timeout`: macOS has none
            trap 'kill "$nap"; exit' TERM
            sleep "$seconds" &
            nap=$!
            wait "$nap"
            kill "$sent"
        ) &
        guard=$!
        wait "$sent"
        kill "$guard"
    ) ;;
esac
[ "$1${2:-}" != codexStop ] || send 5 codex # its transcript alone says which calls failed
answer=$(told | curl -qfsS --max-time "${3:-3}" -w '%{http_code}' -H @/dev/fd/3 --data-binary @- \
    "${host%/}/api/v1/hooks/$1" 2>/dev/null 3<<END
Authorization: Bearer $token
Content-Type: application/json
X-Cairn-Agent: $1
X-Cairn-Event: ${2:-}
X-Cairn-Hook: 5
X-Cairn-Project: $project
X-Cairn-Repository: ${origin##*[:/]}
X-Cairn-Root: ${root:-}
X-Cairn-Branch: ${branch:-}
X-Cairn-Commit: ${head:-}
END
) || exit 0
case "$1${2:-}" in
    claude-codeStop) (send 60 "$1" </dev/null >/dev/null 2>&1 &) ;;
    *SessionEnd) (send 60 "$1" --end </dev/null >/dev/null 2>&1 &) ;;
esac
case $answer in # a page of a proxy, or a redirection, is nothing that a model should read
    '{'*'}200' | '{'*'}'?200) printf '%s\n' "${answer%200}" ;;
esac
