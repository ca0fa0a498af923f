"""audit.py: folds a server's log into SQLite, and compares the result with the server's rows.

Usage: python3 Tests/SyncAuditor/audit.py LOG ROWS
LOG   messages of a server to a client in order: a welcome with a log, then entries. Each message follows its length in eight
      bytes, the lowest first.
ROWS  one welcome, in the same form: its log has the server's rows at the newest version, and no entries.
The auditor is written from docs/reference/sync-format.md, sync-merge.md (sections 8 and 11) and sync-protocol.md (sections 7
and 8), and shares no code with what it judges. For every version the state has the digest that the entry says; at the end
every object, property, element, member and entry is the one in the rows.
Exit: 0 they agree, and the number of versions is printed; 1 they differ, and the first difference is printed; 2 usage.
"""

import sqlite3
import sys

MASK = (1 << 64) - 1
WIDE = (1 << 128) - 1
(NULL, INT, LINK, EMBEDDED) = (0, 3, 12, 13)
# What follows each kind of operation: a value, values, an index or count, a text, a signed number.
ARGUMENTS = {2: "v", 3: "v", 4: "s", 5: "iV", 6: "ii", 7: "ii", 8: "iv", 9: "", 10: "V", 11: "V", 12: "v", 13: "v", 14: "tv", 15: "t"}
TABLES = """
CREATE TABLE object(name BLOB PRIMARY KEY, node INTEGER);
CREATE TABLE value(node INTEGER, property BLOB, value BLOB, inside INTEGER, PRIMARY KEY(node, property));
CREATE TABLE element(node INTEGER, property BLOB, place INTEGER, value BLOB, inside INTEGER);
CREATE INDEX places ON element(node, property, place);
CREATE TABLE member(node INTEGER, property BLOB, value BLOB, PRIMARY KEY(node, property, value));
CREATE TABLE entry(node INTEGER, property BLOB, key BLOB, value BLOB, inside INTEGER, PRIMARY KEY(node, property, key));
"""


class Difference(Exception):
    """The log and the rows disagree, or the log with itself."""


def number(value):
    """The bytes of a number."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def text(content):
    return number(len(content)) + content


class Reader:
    """Bytes of a message. Names become texts, as in digests."""

    def __init__(self, content):
        self.content, self.place = content, 0
        self.names, self.names_grow = [], False

    def take(self, count):
        end = self.place + count
        if end > len(self.content):
            raise Difference(f"the bytes end at {len(self.content)}, {count} more are needed at {self.place}")
        found = self.content[self.place:end]
        self.place = end
        return found

    def byte(self):
        return self.take(1)[0]

    def number(self):
        value, shift = 0, 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def fixed(self, count):
        return int.from_bytes(self.take(count), "little")

    def text(self):
        return self.take(self.number())

    def name(self):
        index = self.number()
        if self.names_grow and index == len(self.names):
            self.names.append(self.text())
        return self.names[index]

    def key(self):
        kind = self.byte()
        start = self.place
        if kind == 1:
            self.number()
        elif kind == 2:
            self.text()
        elif kind in (3, 4):
            self.take(12 if kind == 3 else 16)
        return bytes([kind]) + self.content[start:self.place]

    def object(self):
        """The encoding of an object's name."""
        return text(self.name()) + self.key()

    def value(self):
        """The encoding of a value."""
        kind, start = self.byte(), self.place
        if kind == LINK:
            return bytes([kind]) + self.object()
        if kind == INT:
            self.number()
        elif kind == 8:
            self.number()
            self.number()
        elif kind in (6, 7):
            self.text()
        else:
            self.take({4: 4, 5: 8, 9: 12, 10: 16, 11: 16}.get(kind, 0))
        return bytes([kind]) + self.content[start:self.place]

    def values(self):
        return [self.value() for _ in range(self.number())]


class Realm:
    """The objects of one version, in tables."""

    def __init__(self):
        self.base = sqlite3.connect(":memory:", isolation_level=None)
        self.base.executescript(TABLES)
        self.last_node = 0
        self.hashes = {}

    def run(self, statement, *arguments):
        return self.base.execute(statement, arguments)

    # Nodes: the content of an object, or of an embedded object.

    def new_node(self):
        self.last_node += 1
        return self.last_node

    def slot(self, value):
        """A value with the node of its content."""
        return value, self.new_node() if value[0] == EMBEDDED else None

    def node(self, name, steps):
        found = self.run("SELECT node FROM object WHERE name = ?", name).fetchone()
        for kind, prop, at in steps:
            if found is None:
                break
            table = ("value", "element", "entry")[kind]
            where = ("", " AND place = ?", " AND key = ?")[kind]
            arguments = [found[0], prop] + ([at] if kind else [])
            found = self.run(f"SELECT inside FROM {table} WHERE node = ? AND property = ?{where}", *arguments).fetchone()
        if found is None or found[0] is None:
            raise Difference(f"an operation is about {name!r} {steps}, which is not there")
        return found[0]

    # Operations, each exactly as written.

    def create(self, name):
        self.run("INSERT INTO object VALUES(?, ?)", name, self.new_node())

    def delete(self, name):
        # What was below it stays in its tables, where nothing leads to it.
        if self.run("DELETE FROM object WHERE name = ?", name).rowcount != 1:
            raise Difference(f"{name!r} is deleted, and is not there")

    def change(self, name, steps, prop, kind, arguments):
        node = self.node(name, steps)
        if kind in (2, 3):
            self.run("INSERT OR REPLACE INTO value VALUES(?, ?, ?, ?)", node, prop, *self.slot(arguments[0]))
        elif kind == 4:
            self.increment(node, prop, arguments[0])
        elif kind in range(5, 12):
            self.change_list(node, prop, kind, arguments)
        elif kind == 12:
            self.run("INSERT OR IGNORE INTO member VALUES(?, ?, ?)", node, prop, arguments[0])
        elif kind == 13:
            self.run("DELETE FROM member WHERE node = ? AND property = ? AND value = ?", node, prop, arguments[0])
        elif kind == 14:
            self.run("INSERT OR REPLACE INTO entry VALUES(?, ?, ?, ?, ?)", node, prop, arguments[0], *self.slot(arguments[1]))
        elif kind == 15:
            self.run("DELETE FROM entry WHERE node = ? AND property = ? AND key = ?", node, prop, arguments[0])

    def increment(self, node, prop, amount):
        found = self.run("SELECT value FROM value WHERE node = ? AND property = ?", node, prop).fetchone()
        if found is None or found[0][0] != INT:
            raise Difference(f"{prop!r} is incremented, and is no integer")
        raw = Reader(found[0][1:]).number()
        total = ((raw >> 1) ^ -(raw & 1)) + amount
        total = (total + (1 << 63) & MASK) - (1 << 63)
        written = bytes([INT]) + number(((total << 1) ^ (total >> 63)) & MASK)
        self.run("UPDATE value SET value = ? WHERE node = ? AND property = ?", written, node, prop)

    def change_list(self, node, prop, kind, arguments):
        where = "WHERE node = ? AND property = ?"
        count = self.run(f"SELECT count(*) FROM element {where}", node, prop).fetchone()[0]

        def shift(start, by):
            self.run(f"UPDATE element SET place = place + ? {where} AND place >= ?", by, node, prop, start)

        def insert(at, slots):
            if not 0 <= at <= count:
                raise Difference(f"an insertion at {at} of {count} elements")
            shift(at, len(slots))
            for offset, slot in enumerate(slots):
                self.run("INSERT INTO element VALUES(?, ?, ?, ?, ?)", node, prop, at + offset, *slot)

        def remove(at, length):
            if not 0 <= at <= at + length <= count:
                raise Difference(f"an erasure of {length} elements at {at} of {count}")
            self.run(f"DELETE FROM element {where} AND place >= ? AND place < ?", node, prop, at, at + length)
            shift(at, -length)

        if kind == 5:
            insert(arguments[0], [self.slot(value) for value in arguments[1]])
        elif kind == 6:
            remove(*arguments)
        elif kind == 7:
            source, target = arguments
            slot = self.run(f"SELECT value, inside FROM element {where} AND place = ?", node, prop, source).fetchone()
            if slot is None:
                raise Difference(f"element {source} of {count} is moved")
            remove(source, 1)
            count -= 1
            insert(target, [slot])
        elif kind == 8:
            at, value = arguments
            done = self.run(f"UPDATE element SET value = ?, inside = ? {where} AND place = ?", *self.slot(value), node, prop, at)
            if done.rowcount != 1:
                raise Difference(f"element {at} of {count} is set")
        elif kind in (9, 10):
            self.run(f"DELETE FROM element {where}", node, prop)
            count = 0
            insert(0, [self.slot(value) for value in (arguments[0] if kind == 10 else [])])
        else:
            raise Difference("a fill has effect")

    # What is there, and its digest.

    def content(self, node):
        """Everything in a node: name → (value, list, members, entries), with slots (value, content)."""
        found = {}

        def part(prop):
            return found.setdefault(prop, [None, [], [], {}])

        def slot(value, inside):
            return value, None if inside is None else self.content(inside)

        for prop, value, inside in self.run("SELECT property, value, inside FROM value WHERE node = ?", node).fetchall():
            part(prop)[0] = slot(value, inside)
        for prop, value, inside in self.run(
                "SELECT property, value, inside FROM element WHERE node = ? ORDER BY property, place", node).fetchall():
            part(prop)[1].append(slot(value, inside))
        for prop, value in self.run("SELECT property, value FROM member WHERE node = ? ORDER BY value", node).fetchall():
            part(prop)[2].append(value)
        for prop, key, value, inside in self.run("SELECT property, key, value, inside FROM entry WHERE node = ?", node).fetchall():
            part(prop)[3][key] = slot(value, inside)
        return found

    def object(self, name):
        found = self.run("SELECT node FROM object WHERE name = ?", name).fetchone()
        return None if found is None else self.content(found[0])

    def names(self):
        return {name for name, in self.run("SELECT name FROM object")}

    def digest(self, touched):
        """The digest, given the objects that changed since the last call."""
        for name in touched:
            content = self.object(name)
            self.hashes.pop(name, None)
            if content is not None:
                self.hashes[name] = hashed(b"\x05" + name + total(content).to_bytes(16, "little"))
        return sum(self.hashes.values()) & WIDE


def hashed(content):
    """The hash of sync-format.md, section 5."""
    low, high = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
    whole = len(content) // 8
    words = [int.from_bytes(content[8 * index:8 * index + 8], "little") for index in range(whole + 1)]
    for word in words + [len(content), 0]:
        low = (low ^ word) * 0xFF51AFD7ED558CCD & MASK
        low ^= low >> 32
        high = (high + low) * 0xC4CEB9FE1A85EC53 & MASK
        high ^= high >> 29
    return high << 64 | low


def slot_hash(slot):
    value, content = slot
    plain = hashed(value) if content is None else hashed(b"\x00" + total(content).to_bytes(16, "little"))
    return plain.to_bytes(16, "little")


def total(content):
    """The sum of an object, sync-merge.md, section 11."""
    found = 0
    for prop, (value, elements, members, entries) in content.items():
        name = text(prop)
        if value is not None:
            found += hashed(b"\x01" + name + slot_hash(value))
        ends = [bytes(16)] + [slot_hash(slot) for slot in elements] + [bytes(16)]
        if elements:
            found += sum(hashed(b"\x02" + name + left + right) for left, right in zip(ends, ends[1:]))
        found += sum(hashed(b"\x03" + name + slot_hash((member, None))) for member in members)
        found += sum(hashed(b"\x04" + name + text(key) + slot_hash(slot)) for key, slot in entries.items())
    return found & WIDE


def read_operations(reader, sourced):
    """Operations as (kind, object, steps, property, arguments)."""
    found, name, field = [], None, None
    for _ in range(reader.number()):
        if sourced:
            reader.number()
        first = reader.byte()
        kind = first & 63
        if not first & 128:
            name = reader.object()
        if kind < 2:
            field = None
            found.append((kind, name, [], None, []))
            continue
        if not first & 64:
            steps = []
            for _ in range(reader.number()):
                place, prop = reader.byte(), reader.name()
                steps.append((place, prop, (lambda: None, reader.number, reader.text)[place]()))
            field = steps, reader.name()
        parts = {"v": reader.value, "V": reader.values, "i": reader.number, "t": reader.text, "s": lambda: signed(reader)}
        found.append((kind, name, *field, [parts[part]() for part in ARGUMENTS[kind]]))
    return found


def signed(reader):
    raw = reader.number()
    return (raw >> 1) ^ -(raw & 1)


def read_entry(content):
    """An entry's version, digest and effect."""
    reader = Reader(content)
    if reader.byte() != 2:
        raise Difference("bytes of something else in the place of an entry")
    version = reader.number()
    for _ in range(4):
        reader.number()
    reader.fixed(8)
    reader.number()
    digest, flags = reader.fixed(16), reader.byte()
    if flags & 4:
        reader.number()
    for _ in range(reader.number()):
        reader.number()
        reader.byte()
        reader.number()
    reader.names = [reader.text() for _ in range(reader.number())]
    effect = read_operations(reader, False)
    if flags & 1:
        effect = read_operations(reader, True)
    if flags & 2:
        read_operations(reader, True)
    if reader.place != len(content):
        raise Difference(f"bytes after the end of entry {version}")
    return version, digest, [] if flags & 4 else effect


def read_node(reader, realm, node):
    """The content of an object, sync-protocol.md, section 8."""

    def slot():
        value, inside = realm.slot(reader.value())
        if inside is not None:
            read_node(reader, realm, inside)
        return value, inside

    for _ in range(reader.number()):
        prop, flags = reader.name(), reader.byte()
        if flags & 1:
            realm.run("INSERT INTO value VALUES(?, ?, ?, ?)", node, prop, *slot())
        for place in range(reader.number() if flags & 2 else 0):
            realm.run("INSERT INTO element VALUES(?, ?, ?, ?, ?)", node, prop, place, *slot())
        for _ in range(reader.number() if flags & 4 else 0):
            realm.run("INSERT INTO member VALUES(?, ?, ?)", node, prop, reader.value())
        for _ in range(reader.number() if flags & 8 else 0):
            realm.run("INSERT INTO entry VALUES(?, ?, ?, ?, ?)", node, prop, reader.text(), *slot())


def read_log(reader, realm):
    """The version before a log's entries, with its objects; then the entries."""
    version, digest = reader.number(), reader.fixed(16)
    reader.fixed(8)
    reader.fixed(16)
    for _ in range(reader.number()):
        for _ in range(3):
            reader.number()
        reader.fixed(8)
    reader.names, reader.names_grow = [], True
    for _ in range(reader.number()):
        name = reader.object()
        realm.create(name)
        read_node(reader, realm, realm.last_node)
    check_digest(realm, realm.names(), version, digest)
    return version, read_entries(reader)


def read_entries(reader):
    return [read_entry(reader.take(reader.number())) for _ in range(reader.number())]


def read_message(content, realm):
    """The version before the entries of a message (None unless it has a log), and its entries."""
    reader = Reader(content)
    if reader.byte() != 1:
        raise Difference("a message of another version of the protocol")
    kind = reader.byte()
    if kind == 5:
        return None, read_entries(reader)
    if kind != 4:
        return None, []
    reader.number()
    reader.fixed(24)
    reader.number()
    reader.fixed(16)
    return read_log(reader, realm) if reader.byte() & 2 else (None, [])


def messages(path):
    with open(path, "rb") as file:
        while head := file.read(8):
            yield file.read(int.from_bytes(head, "little"))


def check_digest(realm, touched, version, digest):
    found = realm.digest(touched)
    if found != digest:
        raise Difference(f"version {version} has digest {found:032x}, and is said to have {digest:032x}")


def fold(path):
    """The realm of a log, its version and the number of its entries."""
    realm, version, count = Realm(), None, 0
    for content in messages(path):
        if version is None:
            start, entries = read_message(content, realm)
            version = start
        else:
            # A log in a later welcome has nothing that entries do not say.
            entries = read_message(content, Realm())[1]
        for number_of_entry, digest, effect in entries:
            if version is None or number_of_entry > version + 1:
                raise Difference(f"version {number_of_entry} follows {version}")
            if number_of_entry <= version:
                continue
            for kind, name, steps, prop, arguments in effect:
                if kind == 0:
                    realm.create(name)
                elif kind == 1:
                    realm.delete(name)
                else:
                    realm.change(name, steps, prop, kind, arguments)
            version, count = number_of_entry, count + 1
            check_digest(realm, {operation[1] for operation in effect}, version, digest)
    if version is None:
        raise Difference(f"{path} has no log")
    return realm, version, count


def compare(log, rows):
    for name in sorted(log.names() | rows.names()):
        left, right = log.object(name), rows.object(name)
        if left is None or right is None:
            raise Difference(f"object {name!r} is {'in the log' if right is None else 'in the rows'} only")
        for prop in sorted(left.keys() | right.keys()):
            if left.get(prop) != right.get(prop):
                raise Difference(f"{prop.decode()} of {name!r} is {left.get(prop)} by the log, {right.get(prop)} in the rows")


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        realm, version, count = fold(sys.argv[1])
        rows, newest, _ = fold(sys.argv[2])
        if version != newest:
            raise Difference(f"the log ends at version {version}, the rows have {newest}")
        compare(realm, rows)
    except Difference as difference:
        print(f"audit: {difference}")
        return 1
    print(f"audit: {count} entries to version {version}, {len(realm.names())} objects, no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
