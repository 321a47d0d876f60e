#!/bin/bash
#SBATCH --job-name=2026/12
#SBATCH --output=$HOME/logs/%j.out
#SBATCH --cpus-per-t=4
#SBATCH --export=ALL,EPOCHS=3,NOT_SET_ANYWHERE,HOME
#SBATCH --constrai=v100 --thread-spec 1
#SBATCH --mem=4000MB
#SBATCH
set -euo pipefail
python3 train.py --epochs "$EPOCHS"
