#!/bin/bash
#SBATCH --job-name=fromwindows
#SBATCH --mem=1G

echo "$SLURM_JOB_NAME"
