# notes.sh: appends three notes, and says so after each: sh notes.sh [sync]
for n in 1 2 3; do
  echo "note $n" >> notes
  if [ "${1:-}" = sync ]; then sync notes; fi
  echo "$n"
done
