#!/bin/sh
# workload.sh [STEPS [fresh]]: writes versions 1 to 5 of a document and acknowledges each.
# STEPS is what to leave out of "write a temporary file, sync it, rename it, sync the directory":
#   safe        nothing                       no-fsync    the sync of the temporary file
#   no-dirsync  the sync of the directory     none        both syncs
#   in-place    the temporary file and the rename: truncate the document, write it, sync it
# With `fresh`, each version gets a name that did not exist (document.N) instead of replacing one.
set -eu
cd "${FAULTLINE_DIR:-.}"
steps=${1:-safe}
case $steps in
safe | no-fsync | no-dirsync | none | in-place) ;;
*) echo "workload.sh: unknown steps '$steps'" >&2 && exit 2 ;;
esac

for n in 1 2 3 4 5; do
  target=document
  [ "${2:-}" != fresh ] || target=document.$n
  temporary=document.tmp
  [ "$steps" != in-place ] || temporary=$target

  yes "version $n" | head -n 600 >"$temporary"
  # coreutils: `sync FILE` is fsync(FILE), of a directory too; without a name it would be sync(),
  # which says nothing to one file system in particular.
  case $steps in safe | no-dirsync | in-place) sync "$temporary" ;; esac
  [ "$steps" = in-place ] || mv -T "$temporary" "$target"
  case $steps in safe | no-fsync) sync . ;; esac
  echo "$n" # the acknowledgement: one write to standard output
done
