#!/usr/bin/env bash
##SBATCH --mem=1T
#sbatch --mem=2T
 #SBATCH --mem=3T
# SBATCH --mem=4T

#SBATCH --job-name="night run"   --comment='who "knows" #1'  # what for
#SBATCH --output=my\ files/out.txt
	# an indented comment does not end the directives
#SBATCH --mem=512M # enough

echo started
#SBATCH --mem=5T
