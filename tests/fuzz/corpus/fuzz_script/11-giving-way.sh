#!/bin/bash
#JOB --checkpoint-signal=USR1 --checkpoint-grace=2m
#JOB --no-park --warmup=30m
./train
