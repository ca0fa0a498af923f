// FormatReaderProgram.swift: the Python program that opens files of known formats: with Python's
// own modules, with those of Debian's packages, or with tools of Debian.

extension FormatReader {
  /// The program.
  ///
  /// It answers each line `FORMAT PATH` with `ok`, `ok ROWS`, `bad REASON`, or `unknown` where
  /// nothing reads the format. With the argument `lacking` it prints the formats without a reader.
  static let program = #"""
    import importlib.util, os, shutil, subprocess, sys

    def read(path):
        with open(path, "rb") as file:
            return file.read()

    def sqlite(path):
        import sqlite3
        connection = sqlite3.connect(path)
        try:
            rows = connection.execute("PRAGMA integrity_check").fetchall()
            if rows != [("ok",)]:
                raise ValueError(rows[0][0])
            return rows_of(connection)
        finally:
            connection.close()

    def rows_of(connection):
        import hashlib, sqlite3
        digest = hashlib.sha256()
        try:
            schema = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            digest.update(repr(schema).encode())
            for kind, name, _ in schema:
                if kind == "table":
                    quoted = name.replace('"', '""')
                    for row in connection.execute('SELECT * FROM "' + quoted + '" LIMIT 100000'):
                        digest.update(repr(row).encode())
        except sqlite3.Error:
            return None
        return digest.hexdigest()[:16]

    def digest(pairs):
        import hashlib
        digest = hashlib.sha256()
        for key, value in pairs:
            digest.update(repr((key, value)).encode())
        return digest.hexdigest()[:16]

    def tool(*command):
        if shutil.which(command[0]) is None:
            raise ImportError(command[0])
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=15)
        if done.returncode != 0:
            words = (done.stderr + done.stdout).decode(errors="replace").strip()
            raise ValueError(words or "%s ends with %d" % (command[0], done.returncode))
        return done.stdout

    def lmdb(path):
        import lmdb as library
        with library.open(path, subdir=False, lock=False, readonly=True, max_dbs=64) as base:
            with base.begin() as transaction:
                return digest(transaction.cursor())

    def lmdb_by_tool(path):
        lines = tool("mdb_dump", "-n", "-a", path).splitlines()
        return digest((line, b"") for line in lines if not line.startswith(b"mapsize="))

    def gdbm(path):
        import dbm.gnu
        def pairs(base):
            key = base.firstkey()
            while key is not None:
                yield key, base[key]
                key = base.nextkey(key)
        with dbm.gnu.open(path, "r") as base:
            return digest(sorted(pairs(base)))

    def leveldb(path):
        import plyvel
        base = plyvel.DB(path, create_if_missing=False)
        try:
            return digest(base.iterator(verify_checksums=True))
        finally:
            base.close()

    def git(path):
        options = ["-c", "safe.directory=*", "--git-dir", path]
        tool("git", *options, "fsck", "--no-dangling", "--no-progress", "--no-reflogs")

    def json(path):
        import json as library
        library.loads(read(path))

    def toml(path):
        import tomllib
        tomllib.loads(read(path).decode())

    def yaml(path):
        import yaml as library
        list(library.safe_load_all(read(path).decode()))

    def xml(path):
        import xml.etree.ElementTree
        xml.etree.ElementTree.parse(path)

    def zip(path):
        import zipfile
        with zipfile.ZipFile(path) as archive:
            name = archive.testzip()
        if name is not None:
            raise ValueError("wrong checksum of " + name)

    def gzip(path):
        import gzip as library
        library.decompress(read(path))

    def bzip2(path):
        import bz2
        bz2.decompress(read(path))

    def xz(path):
        import lzma
        lzma.decompress(read(path))

    def tar(path):
        import tarfile
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                if member.isfile():
                    archive.extractfile(member).read()

    def image(path):
        from PIL import Image
        with Image.open(path) as picture:
            picture.load()

    def png(path):
        tool("pngcheck", "-q", path)

    def jpeg(path):
        tool("djpeg", "-outfile", "/dev/null", path)

    def jpeg_by_info(path):
        words = tool("jpeginfo", "-c", path)
        if b"ERROR" in words or b"WARNING" in words:
            raise ValueError(words.decode(errors="replace"))

    def pdf(path):
        import pypdf
        len(pypdf.PdfReader(path, strict=True).pages)

    def pdf_by_qpdf(path):
        tool("qpdf", "--check", path)

    def pdf_by_info(path):
        tool("pdfinfo", path)

    # The first reader whose module or program is there reads.
    readers = dict(
        sqlite=[(sqlite, "sqlite3")], lmdb=[(lmdb, "lmdb"), (lmdb_by_tool, "mdb_dump")],
        gdbm=[(gdbm, "_gdbm")], leveldb=[(leveldb, "plyvel")], git=[(git, "git")],
        json=[(json, "json")], toml=[(toml, "tomllib")], yaml=[(yaml, "yaml")],
        xml=[(xml, "xml.etree")], zip=[(zip, "zipfile")], gzip=[(gzip, "gzip")],
        bzip2=[(bzip2, "bz2")], xz=[(xz, "lzma")],
        tar=[(tar, "tarfile")], png=[(image, "PIL"), (png, "pngcheck")],
        jpeg=[(image, "PIL"), (jpeg, "djpeg"), (jpeg_by_info, "jpeginfo")],
        pdf=[(pdf, "pypdf"), (pdf_by_qpdf, "qpdf"), (pdf_by_info, "pdfinfo")])

    def is_there(name):
        if shutil.which(name) is not None:
            return True
        try:
            return importlib.util.find_spec(name) is not None
        except ImportError:
            return False

    def ask(name, path):
        for reader, _ in readers[name]:
            try:
                rows = reader(path)
                return "ok " + rows if rows else "ok"
            except ImportError:
                continue
        return "unknown"

    if sys.argv[1:] == ["lacking"]:
        lacks = lambda ways: not any(is_there(way) for _, way in ways)
        print(*[name for name, ways in readers.items() if lacks(ways)])
        sys.exit()
    # A tool says the same in every language, and reads no settings of the user.
    os.environ.update(LC_ALL="C", HOME="/nonexistent", GIT_CONFIG_NOSYSTEM="1")
    # What is staged can be staged again: the index is not looked at.
    os.environ["GIT_INDEX_FILE"] = "/nonexistent/index"
    for line in sys.stdin:
        name, path = line.rstrip("\n").split(" ", 1)
        try:
            answer = ask(name, path)
        except Exception as error:
            answer = "bad " + " ".join(str(error).split())[:200].replace(path, "it")
        print(answer, flush=True)
    """#
}
