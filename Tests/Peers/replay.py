"""replay.py: plays the operations of a recording, and holds the tree that they lead to against a mounted one.

Written from docs/reference/trace-format.md alone, so it is a second reader of trace files. Each operation must fit what stands there
before it: the name that it takes is free or was the one said, the size before is the one said.
Usage: python3 replay.py TRACE [DIR]    prints the tree, or compares it with the one below DIR
"""

import hashlib
import os
import sqlite3
import stat
import sys

PIECE = 1 << 16
TYPES = {
    "regular": stat.S_IFREG, "directory": stat.S_IFDIR, "symbolicLink": stat.S_IFLNK, "fifo": stat.S_IFIFO,
    "socket": stat.S_IFSOCK, "characterDevice": stat.S_IFCHR, "blockDevice": stat.S_IFBLK,
}


class Mismatch(Exception):
    """An operation that does not fit the tree before it."""


class Inode:
    """What one inode holds. Content is kept in pieces; those that are not there read as zeros."""

    def __init__(self, kind, mode, user, group, device=0, target=b""):
        self.kind, self.mode, self.user, self.group = kind, mode, user, group
        self.device, self.target = device, target or b""
        self.size, self.pieces, self.entries, self.attributes = 0, {}, {}, {}
        self.modified = None  # nanoseconds, if a program chose them and nothing came since

    def write(self, offset, data):
        if data:
            self.modified = None
        self.size = max(self.size, offset + len(data))
        place = 0
        while place < len(data):
            number, start = divmod(offset + place, PIECE)
            count = min(PIECE - start, len(data) - place)
            self.pieces.setdefault(number, bytearray(PIECE))[start:start + count] = data[place:place + count]
            place += count

    def zero(self, offset, end):
        for number in [n for n in self.pieces if n * PIECE < end and (n + 1) * PIECE > offset]:
            start, stop = max(offset - number * PIECE, 0), min(end - number * PIECE, PIECE)
            if stop - start == PIECE:
                del self.pieces[number]
            else:
                self.pieces[number][start:stop] = bytes(stop - start)

    def resize(self, size):
        if size < self.size:
            self.zero(size, self.size)
        if size != self.size:
            self.modified = None
        self.size = size

    def digest(self):
        return digest(sorted(self.pieces.items()))


def nanoseconds(text):
    """Of a time in seconds with nine digits after the point, or None for `-`."""
    if text in (b"-", None):
        return None
    whole, rest = text.split(b".")
    return int(whole) * 10**9 + (-int(rest) if whole.startswith(b"-") else int(rest))


def digest(pieces):
    """Of all pieces that are not zeros, with their numbers: files may be sparse and large."""
    sum = hashlib.blake2b()
    for number, piece in pieces:
        if piece.count(0) != len(piece):
            sum.update(number.to_bytes(8, "little") + piece.ljust(PIECE, b"\0"))
    return sum.hexdigest()


def pieces_of(file):
    """The pieces of an open file that are not holes."""
    end, number = os.fstat(file).st_size, 0
    while number * PIECE < end:
        try:
            number = max(number, os.lseek(file, number * PIECE, os.SEEK_DATA) // PIECE)
        except OSError:  # ENXIO: nothing but a hole from here on
            return
        yield number, os.pread(file, PIECE, number * PIECE)
        number += 1


class Replay:
    """The tree of a trace file, after any number of its operations."""

    def __init__(self, path):
        self.base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.base.text_factory = bytes
        self.inodes = {}
        self.operations = 0
        rows = self.base.execute('SELECT inode, type, mode, user, "group", size, target, device FROM inodes')
        for number, kind, mode, user, group, size, target, device in rows:
            self.inodes[number] = Inode(kind.decode(), mode, user, group, device, target)
            self.inodes[number].size = size
        for parent, name, number in self.base.execute("SELECT parent, name, inode FROM entries"):
            self.inodes[parent].entries[bytes(name)] = number
        for number, name, value in self.base.execute("SELECT inode, name, value FROM xattrs"):
            self.inodes[number].attributes[bytes(name)] = bytes(value)
        for number, offset, data in self.base.execute("SELECT inode, offset, bytes FROM extents"):
            self.inodes[number].write(offset, data)
        if self.base.execute("SELECT 1 FROM sqlite_schema WHERE name = 'times'").fetchone():
            for number, modification in self.base.execute("SELECT inode, modification FROM times"):
                self.inodes[number].modified = nanoseconds(modification)

    def play(self):
        """Plays all operations; returns their number without marks."""
        columns = ("seq, kind, inode, parent, name, other_inode, other_parent, other_name, type, mode, user, "
                   '"group", device, offset, length, old_size, new_size, payload, flags')
        for row in self.base.execute(f"SELECT {columns} FROM events ORDER BY seq"):
            event = dict(zip([c.strip(' "') for c in columns.split(",")], row))
            if event["seq"] != self.operations:
                raise Mismatch(f"event {event['seq']} stands where {self.operations} should")
            self.operations += 1
            if event["flags"] & 8:
                continue
            kind = event["kind"].decode()
            try:
                getattr(self, "do_" + kind)(event)
            except (Mismatch, KeyError, AttributeError) as error:
                shown = {key: value for key, value in event.items() if value is not None and key != "payload"}
                raise Mismatch(f"event {event['seq']}, {kind}: {error!r}; {shown}") from error
        return self.operations

    def expect(self, holds, what):
        if not holds:
            raise Mismatch(what)

    def take(self, parent, name, inode):
        found = self.inodes[parent].entries.pop(name, None)
        self.expect(found == inode, f"the name means inode {found}")
        self.inodes[parent].modified = None

    def give(self, parent, name, inode):
        self.expect(name not in self.inodes[parent].entries, "the name is taken")
        self.inodes[parent].entries[name] = inode
        self.inodes[parent].modified = None

    def do_create(self, e):
        kind = e["type"].decode()
        self.expect(e["inode"] not in self.inodes, "the inode is there already")
        self.inodes[e["inode"]] = Inode(kind, e["mode"], e["user"], e["group"], e["device"] or 0, e["payload"])
        self.give(e["parent"], e["name"], e["inode"])

    def do_link(self, e):
        self.give(e["parent"], e["name"], e["inode"])

    def do_unlink(self, e):
        self.take(e["parent"], e["name"], e["inode"])

    def do_rmdir(self, e):
        self.expect(not self.inodes[e["inode"]].entries, "the directory is not empty")
        self.take(e["parent"], e["name"], e["inode"])

    def do_rename(self, e):
        self.take(e["parent"], e["name"], e["inode"])
        if e["other_inode"] is not None:
            self.expect(not self.inodes[e["other_inode"]].entries, "the replaced directory is not empty")
            self.take(e["other_parent"], e["other_name"], e["other_inode"])
        self.give(e["other_parent"], e["other_name"], e["inode"])

    def do_createNameless(self, e):
        self.expect(e["inode"] not in self.inodes, "the inode is there already")
        self.inodes[e["inode"]] = Inode("regular", e["mode"], e["user"], e["group"], 0, None)

    def do_renameWithWhiteout(self, e):
        self.do_rename(e)
        device = e["device"]
        self.expect(device not in self.inodes, "the device is there already")
        self.inodes[device] = Inode("characterDevice", e["mode"], e["user"], e["group"], 0, None)
        self.give(e["parent"], e["name"], device)

    def do_exchange(self, e):
        self.take(e["parent"], e["name"], e["inode"])
        self.take(e["other_parent"], e["other_name"], e["other_inode"])
        self.give(e["parent"], e["name"], e["other_inode"])
        self.give(e["other_parent"], e["other_name"], e["inode"])

    def do_write(self, e):
        self.expect(len(e["payload"]) == e["length"], f"{len(e['payload'])} bytes of {e['length']}")
        self.inodes[e["inode"]].write(e["offset"], e["payload"])

    def do_truncate(self, e):
        inode = self.inodes[e["inode"]]
        self.expect(inode.size == e["old_size"], f"the size was {inode.size}")
        inode.resize(e["new_size"])

    def do_allocate(self, e):
        inode = self.inodes[e["inode"]]
        self.expect(inode.size == e["old_size"], f"the size was {inode.size}")
        inode.resize(e["new_size"])
        inode.modified = None

    def do_zero(self, e):
        self.do_allocate(e)
        self.inodes[e["inode"]].zero(e["offset"], e["offset"] + e["length"])

    def do_setOwnership(self, e):
        inode = self.inodes[e["inode"]]
        inode.mode, inode.user, inode.group = e["mode"], e["user"], e["group"]

    def do_setExtendedAttribute(self, e):
        self.inodes[e["inode"]].attributes[e["name"]] = e["payload"] or b""

    def do_removeExtendedAttribute(self, e):
        del self.inodes[e["inode"]].attributes[e["name"]]

    def do_setTimes(self, e):
        self.inodes[e["inode"]].modified = nanoseconds(e["payload"].split(b" ")[0])

    def do_sync(self, e):
        self.expect(e["inode"] in self.inodes, "there is no such inode")

    do_datasync = do_syncDirectory = do_syncAll = do_close = do_sync

    def do_mark(self, e):
        pass

    def tree(self):
        """Each path with what stands there, in the words of `mounted`."""
        found, first = {}, {}
        folders = [(b".", 1)]
        while folders:
            path, number = folders.pop(0)
            inode = self.inodes[number]
            found[path] = {
                "type": TYPES[inode.kind], "mode": inode.mode & 0o7777, "user": inode.user, "group": inode.group,
                "attributes": inode.attributes, "same as": first.setdefault(number, path),
                "modified": inode.modified,
            }
            if inode.kind == "regular":
                found[path] |= {"size": inode.size, "content": inode.digest()}
            elif inode.kind == "symbolicLink":
                found[path] |= {"target": inode.target}
            elif inode.kind in ("characterDevice", "blockDevice"):
                found[path] |= {"device": inode.device}
            folders += [(path + b"/" + name, child) for name, child in sorted(inode.entries.items())]
        return found


def mounted(directory):
    """Each path below a directory with what stands there."""
    found, first = {}, {}
    folders = [b"."]
    while folders:
        path = folders.pop(0)
        place = os.path.join(os.fsencode(directory), path)
        about = os.lstat(place)
        names = os.listxattr(place, follow_symlinks=False)
        found[path] = {
            "type": stat.S_IFMT(about.st_mode), "mode": stat.S_IMODE(about.st_mode), "user": about.st_uid,
            "group": about.st_gid,
            "attributes": {os.fsencode(n): os.getxattr(place, n, follow_symlinks=False) for n in names},
            "same as": first.setdefault(about.st_ino, path), "modified": about.st_mtime_ns,
        }
        if stat.S_ISREG(about.st_mode):
            with open(place, "rb", buffering=0) as file:
                found[path] |= {"size": about.st_size, "content": digest(pieces_of(file.fileno()))}
        elif stat.S_ISLNK(about.st_mode):
            found[path] |= {"target": os.readlink(place)}
        elif stat.S_ISCHR(about.st_mode) or stat.S_ISBLK(about.st_mode):
            found[path] |= {"device": about.st_rdev}
        elif stat.S_ISDIR(about.st_mode):
            folders += [path + b"/" + name for name in sorted(os.listdir(place))]
    return found


def difference(replayed, there):
    """The first path at which two trees differ, in words, or None."""
    for path in sorted(replayed.keys() | there.keys()):
        one, other = replayed.get(path), there.get(path)
        if one and other and one["modified"] is None:
            other["modified"] = None
        if one == other:
            continue
        if one is None or other is None:
            return f"{path!r} is only {'on the mount' if one is None else 'in the recording'}"
        keys = [key for key in one.keys() | other.keys() if one.get(key) != other.get(key)]
        return f"{path!r}: " + ", ".join(f"{k} {one.get(k)!r} in the recording, {other.get(k)!r} on the mount" for k in keys)
    return None


if __name__ == "__main__":
    replay = Replay(sys.argv[1])
    print(f"{replay.play()} events")
    if len(sys.argv) > 2:
        print(difference(replay.tree(), mounted(sys.argv[2])) or "the same tree")
    else:
        for path, what in replay.tree().items():
            print(os.fsdecode(path), what)
