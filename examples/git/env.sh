# env.sh: a git that knows nothing of this machine: no user's or system's configuration, fixed
# author and dates (the same commits get the same hashes in every run), no background repacking, and
# the repository named outright: a damaged .git must not make git search the parent directories.
cd "${FAULTLINE_DIR:-.}" || exit 3
export HOME="$PWD" XDG_CONFIG_HOME="$PWD/.none" GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_DIR="$PWD/.git" GIT_WORK_TREE="$PWD" GIT_TERMINAL_PROMPT=0 LC_ALL=C
export GIT_AUTHOR_NAME=Example GIT_AUTHOR_EMAIL=example@example.org
export GIT_COMMITTER_NAME=Example GIT_COMMITTER_EMAIL=example@example.org
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z'
export GIT_CONFIG_COUNT=2
export GIT_CONFIG_KEY_0=gc.auto GIT_CONFIG_VALUE_0=0
export GIT_CONFIG_KEY_1=maintenance.auto GIT_CONFIG_VALUE_1=false
