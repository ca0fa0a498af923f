#!/bin/sh
# ci.sh: explores a workload in CI; the action and the GitLab component run it from the installed package.
# It reads FAULTLINE_WORKLOAD, and if they are set and not empty FAULTLINE_CHECK, FAULTLINE_SETUP, FAULTLINE_MODELS
# (as for --model), FAULTLINE_BUDGET, FAULTLINE_OPTIONS (more options, split at spaces) and FAULTLINE_REPORT (a
# directory; faultline-report). The exit code is that of faultline. On GitHub it writes a summary of the job.
set -eu
: "${FAULTLINE_WORKLOAD:?is not set: the shell command to record}"
report=${FAULTLINE_REPORT:-faultline-report}
mkdir -p "$report"
set -- --workload "$FAULTLINE_WORKLOAD"
[ -z "${FAULTLINE_CHECK:-}" ] || set -- "$@" --check "$FAULTLINE_CHECK"
[ -z "${FAULTLINE_SETUP:-}" ] || set -- "$@" --setup "$FAULTLINE_SETUP"
[ -z "${FAULTLINE_MODELS:-}" ] || set -- "$@" --model "$FAULTLINE_MODELS"
[ -z "${FAULTLINE_BUDGET:-}" ] || set -- "$@" --budget "$FAULTLINE_BUDGET"
set -f # a pattern such as that of --ignore is not for this directory
# shellcheck disable=SC2086 # split at spaces, as it says above
set -- "$@" ${FAULTLINE_OPTIONS:-} --report "$report"
set +f

# Everything is shown as it comes; what ends the pipe tells the exit code.
{ status=0; CI=true faultline explore "$@" 2>&1 || status=$?; echo "$status" > "$report/exit-code"; } | tee "$report/console.txt"
status=$(cat "$report/exit-code")

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  {
    echo "### Faultline: $(tail -n 20 "$report/console.txt" | sed -n 's/^verdict: //p' | head -n 1)"
    echo
    # As code, which nothing in it can end: each line is indented. GitHub takes at most a megabyte.
    grep -v '^::' "$report/console.txt" | tail -n 300 | cut -c 1-400 | sed 's/^/    /' || :
  } >> "$GITHUB_STEP_SUMMARY"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  { echo "exit-code=$status"; echo "sarif=$report/report.sarif"; echo "report=$report"; } >> "$GITHUB_OUTPUT"
fi
exit "$status"
