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
origin=$(git -C "${CLAUDE_PROJECT_DIR:-.}" remote get-url origin 2>/dev/null)
answer=$(curl -qfsS --max-time "${3:-3}" -H @/dev/fd/3 --data-binary @- \
    "${host%/}/api/v1/hooks/$1" 2>/dev/null 3<<END
Authorization: Bearer $token
Content-Type: application/json
X-Cairn-Agent: $1
X-Cairn-Event: ${2:-}
X-Cairn-Hook: 2
X-Cairn-Project: $project
X-Cairn-Repository: ${origin##*[:/]}
END
) || exit 0
printf '%s\n' "$answer"
