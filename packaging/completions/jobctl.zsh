#compdef jobctl
# zsh completion for jobctl(1)

_jobctl_jobs() {
  local -a jobs
  jobs=(${(f)"$(jobctl $user_mode list --no-legend -o ID,NAME,STATE "$@" 2>/dev/null | sed -E 's/^ *([0-9_]+) +/\1:/')"})
  _describe -t jobs job jobs -- '(@:"the last one submitted")'
}

_jobctl_classes() {
  local -a classes
  classes=(${(f)"$(jobctl $user_mode classes --no-legend 2>/dev/null | cut -d' ' -f1)"})
  _describe -t classes class classes
}

_jobctl() {
  local context state state_descr line
  local -a user_mode verbs general filters limits job
  typeset -A opt_args
  [[ ${words[(r)--user]} == --user ]] && user_mode=(--user)
  verbs=(
    'submit:queue a command as a job' "sbatch:queue a script, with sbatch's options" 'run:run a command now, on this terminal' 'adopt:bring running processes under a job'
    'list:table of jobs' 'status:one job in full, or the machine' 'logs:output of a job' 'events:what happened'
    'samples:what a job used while it ran'
    'wait:wait for jobs' 'advise:how many workers and threads' 'cancel:stop jobs' 'hold:keep waiting jobs from starting' 'release:let held jobs start'
    'requeue:put jobs back into the queue' 'signal:send a signal' 'freeze:stop a job where it is'
    'thaw:let a frozen job go on' 'park:move the memory of a job out to swap' 'unpark:let a parked job go on' 'set:change limits' 'classes:the classes of jobs'
    'doctor:what this machine lacks' 'drain:start nothing new' 'resume:start jobs again'
    'reload:read the configuration again' 'version:versions'
  )
  general=('--user[the daemon of your own systemd]' '--color=[colour]:when:(auto always never)' '(- *)'{-h,--help}'[help]')
  filters=(
    '*--state[jobs in this state]:state:(queued held starting running frozen parked stopping finished done failed signalled cancelled timeout oom preempted dependency start-failed lost)'
    '--class[jobs of this class]:class:_jobctl_classes' '--all[all of yours]' "--all-users[everybody's]"
  )
  limits=(
    '--mem[memory to reserve, and the limit]:size:' '--mem-max[a limit above it]:size:' '--mem-high[slow down above]:size:'
    '--swap-max[swap]:size:' '--tasks-max[processes and threads]:number:' '--cpu-weight[share of the CPU]:1..10000:'
    '--cpu-quota[most CPU]:percent:' '--io-weight[share of the disk]:1..10000:' '--cpu-list[CPUs]:list:'
    {-t,--time}'[time limit]:time:'
    '*'{-p,--property}'[systemd property]:property:(MemoryMax= MemoryHigh= MemorySwapMax= TasksMax= CPUWeight= CPUQuota= IOWeight= AllowedCPUs= OOMScoreAdjust= OOMPolicy= TimeoutStopSec= RuntimeMaxSec=)'
  )
  job=(
    {-J,--name}'[name]:name:' '--class[class]:class:_jobctl_classes' '--stop-timeout[from SIGTERM to SIGKILL]:time:'
    '--oom-policy[after a kill]:policy:(kill continue)' '--comment[a note]:text:' '*--label[a label]:key=value:' \
    '--no-park[never move it out to swap]' '--warmup[what it loads then is no growth]:time:' \
    {-c,--cpus}'[whole cores to reserve]:number:' $limits
  )

  _arguments -C $general '1:verb:->verb' '*::argument:->arguments' && return
  if [[ $state == verb ]]; then
    _describe -t verbs verb verbs
    return
  fi
  case $line[1] in
    submit)
      _arguments -S $general $job '--wait[wait for its end]' '--follow[with its output]' {-q,--parsable}'[bare id]' \
        '--test-only[queue nothing]' '*--export[environment]:list:(ALL NONE)' {-o,--output}'[output]:file:_files' \
        {-e,--error}'[standard error]:file:_files' {-D,--workdir}'[directory]:directory:_directories' \
        '--requeue[start again after a reboot or pressure]' '--hold[queue it held]' '--priority[priority]:number:' '--nice[niceness]:number:' \
        '--oom-score-adjust[OOM score]:number:' '--private-shm[a /dev/shm of its own]:size:' \
        {-d,--after}'[start after other jobs]:list:_jobctl_jobs' \
        '--singleton[after earlier jobs of this name]' {-a,--array}'[one job for each index]:list:' \
        '--begin[not before]:time:' '--signal[before the time limit]:signal:(USR1@60 TERM@60 B\:USR1@60)' \
        '--checkpoint-signal[to save its work]:signal:(USR1 USR2 TERM)' '--checkpoint-grace[the time for that]:time:' \
        '--retries[start it again if it fails]:number:' '--retry-mem[start it again with more memory]:factor:(1.5x 2x)' \
        '--key[same key, same job]:text:' \
        '--open-mode[keep what is in its files]:mode:(append truncate)' '--no-requeue[not again after a reboot]' \
        '1:script, pipeline or command:{_alternative "files:file:_files" "commands:command:_command_names -e"}' \
        '*:::command:_normal' ;;
    sbatch) _arguments -S '*:script:_files' ;;
    run) _arguments -S $general $job {-D,--workdir}'[directory]:directory:_directories' '*:::command:_normal' ;;
    adopt) _arguments $general $job {-q,--parsable}'[bare id]' '*:process:_pids' ;;
    list)
      _arguments $general $filters '--since[submitted within]:time:' {-J,--name}'[name]:name:' {-n,--limit}'[at most]:number:' \
        {-o,--format}'[columns]:fields:' '--json[JSON]' '--no-legend[no titles]' ;;
    status) _arguments $general $filters {-n,--lines}'[lines of output]:number:' '--json[JSON]' '*:job:{_jobctl_jobs --all}' ;;
    logs)
      _arguments $general {-f,--follow}'[go on as it grows]' {-n,--lines}'[last lines]:number:' '--attempt[attempt]:number:' \
        '1:job:{_jobctl_jobs --all}' ;;
    events) _arguments $general {-f,--follow}'[go on]' {-n,--lines}'[last]:number:' '--json[JSON]' '1:job:{_jobctl_jobs --all}' ;;
    samples) _arguments $general {-n,--lines}'[last]:number:' '--json[JSON]' '--no-legend[no titles]' '1:job:{_jobctl_jobs --all}' ;;
    wait)
      _arguments $general $filters '--any[until one has]' '--for[what]:what:(running done)' '--timeout[give up]:time:' \
        '*:job:_jobctl_jobs' ;;
    advise)
      _arguments $general '(--job)--jobs[trainings side by side]:number:' '(--jobs)--job[a job]:job:{_jobctl_jobs --all}' \
        '--json[JSON]' ;;
    signal) _arguments $general $filters {-s,--signal}'[signal]:signal:_signals' '--main[main process only]' '*:job:_jobctl_jobs' ;;
    set) _arguments $general $filters $limits '--priority[priority]:number:' '--nice[niceness]:number:' '*:job:_jobctl_jobs' ;;
    hold) _arguments $general $filters '*:job:{_jobctl_jobs --state queued}' ;;
    unpark) _arguments $general $filters '*:job:{_jobctl_jobs --state parked}' ;;
    release) _arguments $general $filters '*:job:{_jobctl_jobs --state held}' ;;
    requeue) _arguments $general $filters '*:job:{_jobctl_jobs --all}' ;;
    cancel|freeze|thaw|park) _arguments $general $filters '*:job:_jobctl_jobs' ;;
    classes) _arguments $general '--json[JSON]' '--no-legend[no titles]' ;;
    doctor|version) _arguments $general '--json[JSON]' ;;
    *) _arguments $general ;;
  esac
}

_jobctl "$@"
