#!/bin/bash
#SBATCH --dependency=afterok:41:42,afterany:prepare
#SBATCH --dependency=singleton,afternotok:7
#SBATCH --begin=now+2hours
#SBATCH --nice=50
#SBATCH --hold
#SBATCH --kill-on-invalid-dep=yes
./validate "$@"
