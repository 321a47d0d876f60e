# fish completion for jobctl(1)

function __jobctl_command
    set -l words (commandline -opc)
    contains -- --user $words; and echo jobctl --user; or echo jobctl
end

function __jobctl_jobs
    eval (__jobctl_command) list --no-legend -o ID,NAME,STATE $argv 2>/dev/null | string replace -r '^\s*([\d_]+)\s+' '$1\t'
    printf '@\tthe last one submitted\n'
end

function __jobctl_classes
    eval (__jobctl_command) classes --no-legend 2>/dev/null | string replace -r '\s.*' ''
end

# The verb that stands on the line, if it is one of the arguments.
function __jobctl_verb
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; and continue
        contains -- $word $argv
        return
    end
    return 1
end

function __jobctl_needs_verb
    for word in (commandline -opc)[2..]
        string match -q -- '-*' $word; or return 1
    end
end

complete -c jobctl -f
complete -c jobctl -l user -d 'The daemon of your own systemd'
complete -c jobctl -l color -x -a 'auto always never' -d 'Colour'
complete -c jobctl -s h -l help -d Help

complete -c jobctl -n __jobctl_needs_verb -a submit -d 'Queue a command as a job'
complete -c jobctl -n __jobctl_needs_verb -a sbatch -d 'Queue a script, with the options of sbatch'
complete -c jobctl -n __jobctl_needs_verb -a run -d 'Run a command now, on this terminal'
complete -c jobctl -n __jobctl_needs_verb -a adopt -d 'Bring running processes under a job'
complete -c jobctl -n __jobctl_needs_verb -a list -d 'Table of jobs'
complete -c jobctl -n __jobctl_needs_verb -a status -d 'One job in full, or the machine'
complete -c jobctl -n __jobctl_needs_verb -a logs -d 'Output of a job'
complete -c jobctl -n __jobctl_needs_verb -a events -d 'What happened'
complete -c jobctl -n __jobctl_needs_verb -a samples -d 'What a job used while it ran'
complete -c jobctl -n __jobctl_needs_verb -a wait -d 'Wait for jobs'
complete -c jobctl -n __jobctl_needs_verb -a advise -d 'How many workers and threads'
complete -c jobctl -n __jobctl_needs_verb -a cancel -d 'Stop jobs'
complete -c jobctl -n __jobctl_needs_verb -a hold -d 'Keep waiting jobs from starting'
complete -c jobctl -n __jobctl_needs_verb -a release -d 'Let held jobs start'
complete -c jobctl -n __jobctl_needs_verb -a requeue -d 'Put jobs back into the queue'
complete -c jobctl -n __jobctl_needs_verb -a signal -d 'Send a signal'
complete -c jobctl -n __jobctl_needs_verb -a freeze -d 'Stop a job where it is'
complete -c jobctl -n __jobctl_needs_verb -a thaw -d 'Let a frozen job go on'
complete -c jobctl -n __jobctl_needs_verb -a park -d 'Move the memory of a job out to swap'
complete -c jobctl -n __jobctl_needs_verb -a unpark -d 'Let a parked job go on'
complete -c jobctl -n __jobctl_needs_verb -a set -d 'Change limits'
complete -c jobctl -n __jobctl_needs_verb -a classes -d 'The classes of jobs'
complete -c jobctl -n __jobctl_needs_verb -a doctor -d 'What this machine lacks'
complete -c jobctl -n __jobctl_needs_verb -a drain -d 'Start nothing new'
complete -c jobctl -n __jobctl_needs_verb -a resume -d 'Start jobs again'
complete -c jobctl -n __jobctl_needs_verb -a reload -d 'Read the configuration again'
complete -c jobctl -n __jobctl_needs_verb -a version -d Versions

set -l selecting status wait cancel hold release requeue signal freeze thaw park unpark set
complete -c jobctl -n '__jobctl_verb wait cancel signal freeze thaw park set' -k -a '(__jobctl_jobs)'
complete -c jobctl -n '__jobctl_verb status logs requeue events samples' -k -a '(__jobctl_jobs --all)'
complete -c jobctl -n '__jobctl_verb hold' -k -a '(__jobctl_jobs --state queued)'
complete -c jobctl -n '__jobctl_verb unpark' -k -a '(__jobctl_jobs --state parked)'
complete -c jobctl -n '__jobctl_verb release' -k -a '(__jobctl_jobs --state held)'
complete -c jobctl -n '__jobctl_verb adopt' -x -a '(__fish_complete_pids)'
complete -c jobctl -n '__jobctl_verb submit run' -x -a '(__fish_complete_subcommand --fcs-skip=2)'

complete -c jobctl -n "__jobctl_verb list $selecting" -l state -x -a 'queued held starting running frozen parked stopping finished done failed signalled cancelled timeout oom preempted dependency start-failed lost' -d 'Jobs in this state'
complete -c jobctl -n "__jobctl_verb list $selecting" -l all -d 'All of yours'
complete -c jobctl -n "__jobctl_verb list $selecting" -l all-users -d 'Everybody\'s'
complete -c jobctl -n "__jobctl_verb submit run adopt list $selecting" -l class -x -a '(__jobctl_classes)' -d Class
complete -c jobctl -n '__jobctl_verb submit run adopt list' -s J -l name -x -d Name
complete -c jobctl -n '__jobctl_verb list' -l since -x -d 'Submitted within this time'
complete -c jobctl -n '__jobctl_verb list' -s o -l format -x -d Columns
complete -c jobctl -n '__jobctl_verb list classes samples' -l no-legend -d 'No titles'
complete -c jobctl -n '__jobctl_verb list status events samples classes doctor version advise' -l json -d JSON
complete -c jobctl -n '__jobctl_verb logs events' -s f -l follow -d 'Go on as it grows'
complete -c jobctl -n '__jobctl_verb logs events samples status' -s n -l lines -x -d 'The last so many'
complete -c jobctl -n '__jobctl_verb logs' -l attempt -x -d Attempt
complete -c jobctl -n '__jobctl_verb advise' -l jobs -x -d 'Trainings side by side'
complete -c jobctl -n '__jobctl_verb advise' -l job -x -k -a '(__jobctl_jobs --all)' -d 'From what this job did'
complete -c jobctl -n '__jobctl_verb wait' -l any -d 'Until one of them has'
complete -c jobctl -n '__jobctl_verb wait' -l for -x -a 'running done' -d 'What to wait for'
complete -c jobctl -n '__jobctl_verb wait' -l timeout -x -d 'Give up after this time'
complete -c jobctl -n '__jobctl_verb signal' -s s -l signal -x -a 'TERM INT USR1 USR2 HUP KILL CONT' -d Signal
complete -c jobctl -n '__jobctl_verb signal' -l main -d 'Main process only'

set -l limited submit run adopt set
complete -c jobctl -n "__jobctl_verb $limited" -l mem -x -d 'Memory to reserve, and the limit'
complete -c jobctl -n "__jobctl_verb $limited" -l mem-max -x -d 'A limit above it'
complete -c jobctl -n "__jobctl_verb $limited" -l mem-high -x -d 'Slow down above'
complete -c jobctl -n "__jobctl_verb $limited" -l swap-max -x -d 'Swap it may use'
complete -c jobctl -n "__jobctl_verb $limited" -l tasks-max -x -d 'Processes and threads'
complete -c jobctl -n "__jobctl_verb $limited" -l cpu-weight -x -d 'Share of the CPU'
complete -c jobctl -n "__jobctl_verb $limited" -l cpu-quota -x -d 'Most CPU'
complete -c jobctl -n "__jobctl_verb $limited" -l io-weight -x -d 'Share of the disk'
complete -c jobctl -n "__jobctl_verb $limited" -l cpu-list -x -d CPUs
complete -c jobctl -n "__jobctl_verb $limited" -s t -l time -x -d 'Time limit'
complete -c jobctl -n "__jobctl_verb $limited" -s p -l property -x -a 'MemoryMax= MemoryHigh= MemorySwapMax= TasksMax= CPUWeight= CPUQuota= IOWeight= AllowedCPUs= OOMScoreAdjust= OOMPolicy= TimeoutStopSec= RuntimeMaxSec=' -d 'systemd property'
complete -c jobctl -n '__jobctl_verb submit set' -l priority -x -d Priority
complete -c jobctl -n '__jobctl_verb submit run adopt' -l oom-policy -x -a 'kill continue' -d 'After a kill'
complete -c jobctl -n '__jobctl_verb submit run adopt' -l stop-timeout -x -d 'From SIGTERM to SIGKILL'
complete -c jobctl -n '__jobctl_verb submit run adopt' -l comment -x -d 'A note'
complete -c jobctl -n '__jobctl_verb submit run adopt' -l label -x -d 'A label'
complete -c jobctl -n '__jobctl_verb submit run adopt' -l no-park -d 'Never move it out to swap'
complete -c jobctl -n '__jobctl_verb submit run adopt' -l warmup -x -d 'What it loads then is no growth'
complete -c jobctl -n '__jobctl_verb submit run' -s D -l workdir -x -a '(__fish_complete_directories)' -d Directory
complete -c jobctl -n '__jobctl_verb submit' -l wait -d 'Wait for its end'
complete -c jobctl -n '__jobctl_verb submit' -l follow -d 'Wait, with its output'
complete -c jobctl -n '__jobctl_verb submit adopt' -s q -l parsable -d 'Bare id'
complete -c jobctl -n '__jobctl_verb submit' -l test-only -d 'Queue nothing'
complete -c jobctl -n '__jobctl_verb submit' -l export -x -a 'ALL NONE' -d Environment
complete -c jobctl -n '__jobctl_verb submit' -s o -l output -r -F -d 'File for its output'
complete -c jobctl -n '__jobctl_verb submit' -s e -l error -r -F -d 'File for its standard error'
complete -c jobctl -n '__jobctl_verb submit run adopt' -s c -l cpus -x -d 'Whole cores to reserve'
complete -c jobctl -n '__jobctl_verb submit' -s d -l after -x -k -a '(__jobctl_jobs)' -d 'Start after other jobs'
complete -c jobctl -n '__jobctl_verb submit' -l singleton -d 'After earlier jobs of this name'
complete -c jobctl -n '__jobctl_verb submit' -s a -l array -x -d 'One job for each index'
complete -c jobctl -n '__jobctl_verb submit' -l begin -x -d 'Not before'
complete -c jobctl -n '__jobctl_verb submit' -l signal -x -a 'USR1@60 TERM@60 B:USR1@60' -d 'Before the time limit'
complete -c jobctl -n '__jobctl_verb submit' -l checkpoint-signal -x -a 'USR1 USR2 TERM' -d 'To save its work'
complete -c jobctl -n '__jobctl_verb submit' -l checkpoint-grace -x -d 'The time for that'
complete -c jobctl -n '__jobctl_verb submit' -l retries -x -d 'Start it again if it fails'
complete -c jobctl -n '__jobctl_verb submit' -l retry-mem -x -a '1.5x 2x' -d 'Start it again with more memory'
complete -c jobctl -n '__jobctl_verb submit' -l key -x -d 'Same key, same job'
complete -c jobctl -n '__jobctl_verb submit' -l open-mode -x -a 'append truncate' -d 'Keep what is in its files'
complete -c jobctl -n '__jobctl_verb submit' -l no-requeue -d 'Not again after a reboot'
complete -c jobctl -n '__jobctl_verb sbatch' -F
complete -c jobctl -n '__jobctl_verb submit' -l requeue -d 'Start it again after a reboot or pressure'
complete -c jobctl -n '__jobctl_verb submit' -l hold -d 'Queue it held'
complete -c jobctl -n '__jobctl_verb submit' -l private-shm -x -d 'A /dev/shm of its own'
