#!/bin/sh
#SBATCH -J sweep -c4 -t 90 -a 0-31%8
#SBATCH -o out/%A_%4a.log
#SBATCH --mem-per-cpu 2000
#SBATCH -D /data/sweep

exec ./one-point --index "$SLURM_ARRAY_TASK_ID" --of "$SLURM_ARRAY_TASK_COUNT"
