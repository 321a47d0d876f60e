# bash completion for jobctl(1)

_jobctl_jobs() {
  jobctl "${user_mode[@]}" list --no-legend -o ID "$@" 2>/dev/null
}

_jobctl_classes() {
  jobctl "${user_mode[@]}" classes --no-legend 2>/dev/null | cut -d' ' -f1
}

# The long options that `jobctl VERB --help` names.
_jobctl_options() {
  jobctl "$1" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

_jobctl() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local verbs='submit sbatch run adopt list status logs events samples wait advise cancel hold release requeue signal freeze
    thaw park unpark set classes doctor drain resume reload version'
  local verb='' command_begins='' word at user_mode=()
  COMPREPLY=()

  for ((at = 1; at < COMP_CWORD; at++)); do
    word=${COMP_WORDS[at]}
    if [[ $word == --user ]]; then
      user_mode=(--user)
    elif [[ -z $verb && $word != -* ]]; then
      verb=$word
    elif [[ $word == -- ]]; then
      command_begins=$((at + 1))
      break
    fi
  done

  if [[ -n $command_begins ]]; then
    if declare -F _command_offset >/dev/null; then
      _command_offset "$command_begins"
    else
      mapfile -t COMPREPLY < <(compgen -c -- "$current")
    fi
    return
  fi
  if [[ -z $verb ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs --user --color= --help --version" -- "$current")
    return
  fi

  case $previous in
    --class)
      mapfile -t COMPREPLY < <(compgen -W "$(_jobctl_classes)" -- "$current")
      return ;;
    --state)
      mapfile -t COMPREPLY < <(compgen -W 'queued held starting running frozen parked stopping finished done failed
        signalled cancelled timeout oom preempted dependency start-failed lost' -- "$current")
      return ;;
    --job)
      mapfile -t COMPREPLY < <(compgen -W "@ $(_jobctl_jobs --all)" -- "$current")
      return ;;
    --for)
      mapfile -t COMPREPLY < <(compgen -W 'running done' -- "$current")
      return ;;
    --oom-policy)
      mapfile -t COMPREPLY < <(compgen -W 'kill continue' -- "$current")
      return ;;
    --color)
      mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$current")
      return ;;
    -p | --property)
      mapfile -t COMPREPLY < <(compgen -S = -W 'MemoryMax MemoryHigh MemorySwapMax TasksMax CPUWeight CPUQuota IOWeight
        AllowedCPUs OOMScoreAdjust OOMPolicy TimeoutStopSec RuntimeMaxSec' -- "$current")
      compopt -o nospace 2>/dev/null
      return ;;
    -o | --output | -e | --error)
      if [[ $verb == submit ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
      fi ;;
    --open-mode)
      mapfile -t COMPREPLY < <(compgen -W 'append truncate' -- "$current")
      return ;;
    -d | --after)
      mapfile -t COMPREPLY < <(compgen -W "@ $(_jobctl_jobs)" -- "$current")
      return ;;
    -D | --workdir)
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      return ;;
    --checkpoint-signal)
      mapfile -t COMPREPLY < <(compgen -W 'USR1 USR2 TERM' -- "$current")
      return ;;
    -s | --signal)
      # Of submit it is the warning before the time limit.
      mapfile -t COMPREPLY < <(compgen -W 'TERM INT USR1 USR2 HUP KILL CONT' -- "$current")
      return ;;
  esac

  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_jobctl_options "$verb")" -- "$current")
    return
  fi
  case $verb in
    cancel | signal | freeze | thaw | park | set | wait)
      mapfile -t COMPREPLY < <(compgen -W "@ $(_jobctl_jobs)" -- "$current") ;;
    hold) mapfile -t COMPREPLY < <(compgen -W "$(_jobctl_jobs --state queued)" -- "$current") ;;
    unpark) mapfile -t COMPREPLY < <(compgen -W "$(_jobctl_jobs --state parked)" -- "$current") ;;
    release) mapfile -t COMPREPLY < <(compgen -W "$(_jobctl_jobs --state held)" -- "$current") ;;
    status | logs | requeue | events | samples)
      mapfile -t COMPREPLY < <(compgen -W "@ $(_jobctl_jobs --all)" -- "$current") ;;
    adopt) mapfile -t COMPREPLY < <(compgen -W "$(ps -u "$(id -u)" -o pid= 2>/dev/null)" -- "$current") ;;
    submit | run) mapfile -t COMPREPLY < <(compgen -c -f -- "$current") ;;
    sbatch) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
}

complete -F _jobctl jobctl
