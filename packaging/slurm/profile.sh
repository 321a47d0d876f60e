# /etc/profile has just set PATH anew: in a job whose script begins with `#!/bin/bash -l`, Slurm's commands go first again.
if [ -n "${MLJOBD_STAND_INS:-}" ]; then
  PATH=$MLJOBD_STAND_INS:$PATH
fi
