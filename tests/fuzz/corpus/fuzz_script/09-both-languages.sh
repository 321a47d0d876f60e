#!/bin/bash
#SBATCH --job-name=both
#SBATCH --mem=8G
#SBATCH --cpus-per-task=4
#SBATCH --time=2:00
#JOB --class train --mem 10G
#JOB --cpus 2 --label team=vision --retries 3
#SBATCH --time=3:30
#JOB -o "all runs.log"
make train
