#!/usr/bin/env bash
# Runs the test and keeps its reports. That there are findings is said by the last step of action.yml, after they are uploaded.
set -euo pipefail

arguments=(--catalog "$CATALOG")
if [ -n "$BUNDLES" ]; then arguments+=(--bundles "$BUNDLES"); fi
if [ -n "$API" ]; then arguments+=(--api "$API"); fi
if [ -n "$PARALLEL" ]; then arguments+=(--parallel "$PARALLEL"); fi
if [ "$CHECK_IMAGES" = true ]; then arguments+=(--check-images); fi
mkdir -p "$REPORTS"
for file in report.xml report.sarif report.json report.md; do arguments+=(--report "$REPORTS/$file"); done
read -r -a packages <<<"$PACKAGES"

code=0
"${FAIRLEAD:-$RUNNER_TEMP/fairlead}" catalog test "${arguments[@]}" -- ${packages[@]+"${packages[@]}"} || code=$?
echo "exit-code=$code" >>"$GITHUB_OUTPUT"
if [ -f "$REPORTS/report.sarif" ]; then echo "reported=true" >>"$GITHUB_OUTPUT"; fi
if [ -f "$REPORTS/report.md" ]; then cat "$REPORTS/report.md" >>"$GITHUB_STEP_SUMMARY"; fi
