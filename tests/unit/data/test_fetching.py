"""Against a real server on this machine: what it sends is what the tests say."""

import gzip
import io
import re
import socket
import threading
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from regard.core.errors import UserError
from regard.data import fetching
from regard.data.fetching import RECORD, fetch, missing
from regard.data.sets import DATA_SETS, DataSet, Part

TEXT = b"one\ntwo\nthree\n"


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return packed.getvalue()


class Server:
    """Sends the bytes that were put under a path; `cut` are those of which it sends only a half."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                content = server.files.get(self.path)
                if content is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if self.path in server.cut else content)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


def one(url: str, **options: object) -> DataSet:
    return DataSet("words", "free", [Part("words.txt", url, **options)])  # type: ignore[arg-type]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


@pytest.mark.parametrize(
    ("path", "content", "member"),
    [
        ("/words.txt", TEXT, None),
        ("/words.txt.gz", gzip.compress(TEXT, mtime=0), None),
        ("/words.zip", zipped(set__a=b"no", set__words=TEXT), "set/words"),
    ],
)
def test_a_file_comes_unpacked_and_is_recorded(
    server: Server, tmp_path: Path, path: str, content: bytes, member: str | None
) -> None:
    server.files[path] = content
    seen: list[tuple[int, int | None]] = []
    wanted = one(server.address + path, member=member, lines=3)
    (kept,) = fetch(wanted, tmp_path / "set", lambda address, done, total: seen.append((done, total)))
    assert (tmp_path / "set/words.txt").read_bytes() == TEXT
    assert (tmp_path / "set" / RECORD).read_text() == f"{sha256(TEXT).hexdigest()}  words.txt\n"
    assert names(tmp_path / "set") == {"words.txt", RECORD}
    assert seen[-1] == (len(content), len(content))
    assert str(kept) == f"words.txt: fetched (no checksum is published: recorded in {RECORD})"


def test_what_has_the_published_checksum_is_kept_and_said_to_have_it(server: Server, tmp_path: Path) -> None:
    server.files["/a"] = TEXT
    (kept,) = fetch(one(f"{server.address}/a", sha256=sha256(TEXT).hexdigest()), tmp_path)
    assert str(kept) == "words.txt: fetched (as published)"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sha256": "0" * 64}, f"its SHA-256 is {sha256(TEXT).hexdigest()}, not 0000"),
        ({"lines": 4}, "has 3 lines, not 4"),
        ({"member": "words"}, "cannot be unpacked to words.txt"),
    ],
)
def test_what_is_not_what_it_should_be_leaves_nothing_behind(
    server: Server, tmp_path: Path, options: dict[str, object], said: str
) -> None:
    server.files["/a"] = TEXT
    with pytest.raises(UserError, match=re.escape(said)) as error:
        list(fetch(one(f"{server.address}/a", **options), tmp_path))
    assert str(error.value).endswith("Nothing of it was kept.")
    assert names(tmp_path) == set()


@pytest.mark.parametrize("content", [gzip.compress(TEXT, mtime=0)[:-9], b"<html>Not here</html>"])
def test_a_damaged_archive_leaves_nothing_behind(server: Server, tmp_path: Path, content: bytes) -> None:
    server.files["/a.gz"] = content
    with pytest.raises(UserError, match="cannot be unpacked"):
        list(fetch(one(f"{server.address}/a.gz"), tmp_path))
    assert names(tmp_path) == set()


def test_a_member_that_the_archive_lacks_is_told(server: Server, tmp_path: Path) -> None:
    server.files["/a.zip"] = zipped(other=TEXT)
    with pytest.raises(UserError, match=r"cannot be unpacked to words\.txt"):
        list(fetch(one(f"{server.address}/a.zip", member="words"), tmp_path))


@pytest.mark.parametrize("path", ["/a", "/a.gz", "/a.zip"])
def test_what_is_too_long_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    long = b"x" * 5000
    server.files = {"/a": long, "/a.gz": gzip.compress(long, mtime=0), "/a.zip": zipped_small(long)}
    monkeypatch.setattr(fetching, "MOST", 1000)
    with pytest.raises(UserError, match="1,000 bytes"):
        list(fetch(one(server.address + path, member="words" if path == "/a.zip" else None), tmp_path))
    assert names(tmp_path) == set()


def zipped_small(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("words", content)
    return packed.getvalue()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.parametrize("trouble", ["cut", "not found", "refused", "no such host"])
def test_trouble_with_the_network_is_one_sentence_that_names_the_folder_and_the_files(
    server: Server, tmp_path: Path, trouble: str
) -> None:
    server.files["/half"] = TEXT
    server.cut.add("/half")
    url, said = {
        "cut": (f"{server.address}/half", "it broke off after 7 of 14 bytes"),
        "not found": (f"{server.address}/none", "the server answered 404 Not Found"),
        "refused": (f"http://127.0.0.1:{free_port()}/a", "Connection refused"),
        "no such host": ("http://data.invalid/a", ""),
    }[trouble]
    wanted = DataSet("words", "free", [Part("a.txt", url), Part("b.txt", f"{server.address}/b")])
    with pytest.raises(UserError) as error:
        list(fetch(wanted, tmp_path / "set"))
    assert re.fullmatch(
        rf"{re.escape(url)} could not be fetched \(.*{said}.*\): try again, or put the unpacked files by hand into "
        rf"{re.escape(str(tmp_path / 'set'))}: a\.txt, b\.txt\.",
        str(error.value),
    )
    assert names(tmp_path / "set") == set()


def test_what_is_there_is_kept_and_not_asked_for(server: Server, tmp_path: Path) -> None:
    server.files["/b"] = TEXT
    (tmp_path / "a.txt").write_text("mine\n")
    wanted = DataSet(
        "words", "free", [Part("a.txt", f"{server.address}/a"), Part("b.txt", f"{server.address}/b")]
    )
    assert [part.name for part in missing(wanted, tmp_path)] == ["b.txt"]
    assert [kept.fetched for kept in fetch(wanted, tmp_path)] == [False, True]
    assert (tmp_path / "a.txt").read_text() == "mine\n"
    assert server.asked == ["/b"]
    assert missing(wanted, tmp_path) == []
    again = [str(kept) for kept in fetch(wanted, tmp_path)]
    assert again == [
        "a.txt: was here already (no checksum is published)",
        "b.txt: was here already (as it was when it first came)",
    ]
    assert server.asked == ["/b"]


def test_one_archive_with_two_files_is_asked_for_once(server: Server, tmp_path: Path) -> None:
    server.files["/a.zip"] = zipped(words=TEXT, about=b"about\n")
    url = f"{server.address}/a.zip"
    wanted = DataSet("words", "free", [Part("words.txt", url, "words"), Part("ABOUT.txt", url, "about")])
    list(fetch(wanted, tmp_path))
    assert names(tmp_path) == {"words.txt", "ABOUT.txt", RECORD}
    assert server.asked == ["/a.zip"]


def test_a_file_that_changed_is_told_with_what_to_do(server: Server, tmp_path: Path) -> None:
    server.files["/a"] = TEXT
    plain = one(f"{server.address}/a")
    list(fetch(plain, tmp_path))
    (tmp_path / "words.txt").write_bytes(TEXT + b"four\n")
    with pytest.raises(UserError, match=rf"is not the file that first came .see {RECORD}.: .* Remove it"):
        list(fetch(plain, tmp_path))
    published = one(f"{server.address}/a", sha256=sha256(TEXT).hexdigest())
    with pytest.raises(UserError, match=r"is not the file that was published: .* Remove it"):
        list(fetch(published, tmp_path))


@pytest.mark.parametrize(("content", "good"), [(TEXT, True), (TEXT.rstrip(b"\n"), True), (b"one\n", False)])
def test_a_file_put_there_by_hand_has_to_have_its_lines(
    server: Server, tmp_path: Path, content: bytes, good: bool
) -> None:
    (tmp_path / "words.txt").write_bytes(content)
    wanted = one(f"{server.address}/a", lines=3)
    if good:
        assert [kept.fetched for kept in fetch(wanted, tmp_path)] == [False]
        return
    with pytest.raises(UserError, match=r"words\.txt is not the file .* 1 lines, not 3\. Remove it"):
        list(fetch(wanted, tmp_path))


def test_what_comes_later_has_to_be_what_came_first(server: Server, tmp_path: Path) -> None:
    server.files["/a"] = TEXT
    wanted = one(f"{server.address}/a")
    list(fetch(wanted, tmp_path))
    (tmp_path / "words.txt").unlink()
    server.files["/a"] = TEXT.upper()
    with pytest.raises(UserError, match="not the file that first came"):
        list(fetch(wanted, tmp_path))
    server.files["/a"] = TEXT
    assert [kept.vouched for kept in fetch(wanted, tmp_path)] == [True]


@pytest.mark.parametrize("name", DATA_SETS)
def test_the_sets_are_well_formed(name: str) -> None:
    parts = DATA_SETS[name].parts
    assert len({part.name for part in parts}) == len(parts)
    for part in parts:
        assert re.fullmatch(r"[\w.]+", part.name)
        assert part.url.startswith("https://")
        assert part.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", part.sha256)
        assert (part.member is not None) is part.url.endswith(".zip")
