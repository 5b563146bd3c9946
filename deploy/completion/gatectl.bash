# Completion of gatectl for bash: source it, or put it into /usr/share/bash-completion/completions as gatectl.
_gatectl() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local everywhere="--admin --ca --cert --key --token-file -o --output -h --help --version"
    local commands="status plan flip cancel history pins sessions catalog observe explain drain reload install uninstall"
    local change="--from --expect-version --queue-budget --deadline"
    local word command="" takes_value="" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -n $takes_value ]]; then takes_value=""; continue; fi
        case $word in
            --admin | --ca | --cert | --key | --token-file | -o | --output) takes_value=yes ;;
            -*) ;;
            *) command=$word; break ;;
        esac
    done
    case $previous in
        -o | --output) COMPREPLY=($(compgen -W "text json" -- "$current")); return ;;
        --token-file | --ca | --cert | --key) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --guards) COMPREPLY=($(compgen -W "refuse pin none" -- "$current")); return ;;
        --admin | --from | --expect-version | --queue-budget | --deadline | --reason | --request-id | --dsn | --schema)
            return ;;
    esac
    case $command in
        "") COMPREPLY=($(compgen -W "$commands $everywhere" -- "$current")) ;;
        status | pins | sessions) COMPREPLY=($(compgen -W "-w --watch $everywhere" -- "$current")) ;;
        plan) COMPREPLY=($(compgen -W "$change $everywhere" -- "$current")) ;;
        flip)
            COMPREPLY=($(compgen -W "$change --reason --request-id --rehearse -y --yes $everywhere" -- "$current")) ;;
        explain) COMPREPLY=($(compgen -W "--schema $everywhere" -- "$current")) ;;
        install) COMPREPLY=($(compgen -W "--print --dsn --guards -y --yes $everywhere" -- "$current")) ;;
        uninstall) COMPREPLY=($(compgen -W "--print --dsn -y --yes $everywhere" -- "$current")) ;;
        *) COMPREPLY=($(compgen -W "$everywhere" -- "$current")) ;;
    esac
}
complete -F _gatectl gatectl
