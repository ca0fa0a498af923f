#!/usr/bin/env python3
"""Announces the phases of SQLite transactions to Faultline, so that fault rules can say `during:`.

Usage: sqlite_phases.py MOUNT    inserts ten rows into MOUNT/test.db

A phase is announced by setting the extended attribute user.faultline.phase of the mount's root to
its name; the empty value ends it. On any other file system the call fails, which does no harm.
"""
import os
import sqlite3
import sys

mount = sys.argv[1]


def phase(name):
    try:
        os.setxattr(mount, "user.faultline.phase", name.encode())
    except OSError:
        pass


database = sqlite3.connect(os.path.join(mount, "test.db"), isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS t(x)")
for number in range(1, 11):
    phase("insert")
    database.execute("BEGIN")
    database.execute("INSERT INTO t VALUES(?)", (number,))
    phase("commit")
    try:
        database.execute("COMMIT")
        print("row", number, flush=True)
    except sqlite3.OperationalError as error:
        print("row", number, "failed:", error, flush=True)
        if database.in_transaction:
            database.execute("ROLLBACK")
    phase("")
