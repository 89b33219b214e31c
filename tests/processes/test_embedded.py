"""The embedded PostgreSQL server: real clusters, real signals, as root and as an ordinary user alike."""

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tenancy.embedded import EmbeddedServer, EmbeddedServerError, locate
from tenancy.embedded.access import let_pass, let_read, make_folder
from tenancy.embedded.account import Account, server_account
from tenancy.embedded.cluster import LOGIN_ROLES, program
from tenancy.embedded.postmaster import read_postmaster, stop_orphan

PROJECT = Path(__file__).parents[2]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="switching the user needs root")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child its parent has died")

# Keepline in a process of its own: starts the server, stores a row, says so and stays.
# With "abandon" the server is not tied to this process, as on systems that cannot do so.
KEEPER = """
import signal, sys, time
from pathlib import Path
import psycopg
import tenancy.embedded.server as module
if sys.argv[2] == "abandon":
    module.signal_on_parent_death = lambda number: None
server = module.EmbeddedServer(Path(sys.argv[1]))
server.start()
with psycopg.connect(server.conninfo("postgres", "postgres")) as connection:
    connection.execute("create table if not exists kept (line text)")
    connection.execute("insert into kept values (%s)", [sys.argv[2]])
print("stored", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def top() -> Iterator[Path]:
    """A private folder with two data folders, `asked` and `changed`; making a cluster takes a second."""
    top = Path(tempfile.mkdtemp())
    asked = top / "asked"
    (asked / "postgres.new").mkdir(parents=True)
    (asked / "postgres.new" / "PG_VERSION").write_text("18\n")
    asked.chmod(0o700)
    with EmbeddedServer(asked):
        pass
    subprocess.run(["cp", "-a", asked, top / "changed"], check=True)
    yield top
    shutil.rmtree(top)


@pytest.fixture(scope="module")
def server(top: Path) -> Iterator[EmbeddedServer]:
    """A running server that tests only ask."""
    with EmbeddedServer(top / "asked") as running:
        running.create_database()
        with psycopg.connect(running.conninfo("postgres"), autocommit=True) as connection:
            for role in LOGIN_ROLES[1:]:
                connection.execute(f"create role {role} login")
        yield running


@pytest.fixture
def folder(top: Path) -> Iterator[Path]:
    """A data folder whose server tests start, kill and spoil; each leaves it fit for the next."""
    yield top / "changed"
    cluster = top / "changed" / "postgres"
    stop_orphan(server_account(cluster), cluster)


@pytest.fixture
def keep(folder: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Start Keepline's server in a process of its own; returns when a row is committed."""
    started: list[subprocess.Popen[str]] = []

    def start(manner: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", KEEPER, str(folder), manner],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "stored\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.02)


def postmaster_of(folder: Path) -> int:
    postmaster = read_postmaster(folder / "postgres")
    assert postmaster is not None
    return postmaster.process_id


def is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


def rows(server: EmbeddedServer) -> list[str]:
    with psycopg.connect(server.conninfo("postgres", "postgres")) as connection:
        return [row[0] for row in connection.execute("select line from kept")]


def setting(server: EmbeddedServer, name: str) -> str:
    with psycopg.connect(server.conninfo("postgres", "postgres")) as connection:
        row = connection.execute("select current_setting(%s)", [name]).fetchone()
    assert row is not None
    return str(row[0])


def test_a_database_is_made_once_and_asking_again_changes_nothing(server: EmbeddedServer) -> None:
    server.create_database()
    with psycopg.connect(server.conninfo("postgres")) as connection:
        row = connection.execute(
            "select pg_encoding_to_char(encoding), datlocprovider, datlocale from pg_database "
            "where datname = current_database()"
        ).fetchone()
    assert row == ("UTF8", "b", "C.UTF-8")


def test_text_search_knows_letters_beyond_ascii(server: EmbeddedServer) -> None:
    """Under a plain C locale the quotes and the dash would be taken for letters."""
    with psycopg.connect(server.conninfo("postgres")) as connection:
        row = connection.execute("select to_tsvector('simple', 'ÉCOLE “Straße”–café')::text").fetchone()
    assert row == ("'café':3 'straße':2 'école':1",)


@pytest.mark.parametrize("role", LOGIN_ROLES)
def test_the_connection_string_suffices_in_another_process(server: EmbeddedServer, role: str) -> None:
    answer = subprocess.run(
        [program("psql"), server.conninfo(role), "-XAtc", "select session_user"],
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == role


def test_a_role_that_is_not_of_keepline_cannot_log_in(server: EmbeddedServer) -> None:
    with psycopg.connect(server.conninfo("postgres"), autocommit=True) as connection:
        connection.execute("create role stranger login superuser")
    with pytest.raises(psycopg.OperationalError, match="Peer authentication failed"):
        psycopg.connect(server.conninfo("stranger"))


@as_root
def test_another_user_of_the_system_cannot_reach_the_socket(server: EmbeddedServer) -> None:
    nobody = pwd.getpwnam("nobody")
    tried = subprocess.run(
        [program("psql"), server.conninfo("keepline_app"), "-XAtc", "select 1"],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        cwd="/",
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode != 0
    assert "Permission denied" in tried.stderr


@as_root
def test_another_user_who_gets_past_the_folder_is_refused_by_name(server: EmbeddedServer) -> None:
    nobody = pwd.getpwnam("nobody")
    socket_folder = server.address.socket_folder
    socket_folder.chmod(0o711)
    server.address.socket.chmod(0o777)
    try:
        tried = subprocess.run(
            [program("psql"), server.conninfo("postgres"), "-XAtc", "select 1"],
            user=nobody.pw_uid,
            group=nobody.pw_gid,
            extra_groups=[],
            cwd="/",
            env={},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        socket_folder.chmod(0o700)
        server.address.socket.chmod(0o700)
    assert "Peer authentication failed" in tried.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("listen_addresses", ""),
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("data_checksums", "on"),
        ("wal_recycle", "off"),
        ("max_wal_size", "256MB"),
        ("jit", "off"),
        ("TimeZone", "UTC"),
        ("password_encryption", "scram-sha-256"),
    ],
)
def test_settings(server: EmbeddedServer, name: str, value: str) -> None:
    assert setting(server, name) == value


def test_no_text_of_users_enters_the_log(server: EmbeddedServer) -> None:
    canary = "zebrafinch"
    with psycopg.connect(server.conninfo("postgres"), autocommit=True) as connection:
        connection.execute("create table unique_lines (line text unique)")
        connection.execute("insert into unique_lines values (%s)", [canary])
        for statement in (
            "insert into unique_lines values (%s)",  # the error's detail quotes the row
            "select %s::uuid",  # the error's message quotes the value
            "do $$ begin raise warning 'zebrafinch'; end $$; select %s / 0",
        ):
            with pytest.raises(psycopg.Error):
                connection.execute(statement, [canary])
        with pytest.raises(psycopg.Error):
            connection.execute(f"selec '{canary}'")
    log = server.address.socket_folder.parent / "postgres.log"
    assert "ready to accept connections" in log.read_text()
    assert canary not in log.read_text()


def test_nothing_of_the_environment_reaches_the_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPLINE_SECRET_KEY", "zebrafinch")
    with EmbeddedServer(folder):
        environment = Path(f"/proc/{postmaster_of(folder)}/environ").read_bytes()
    assert b"LC_ALL" in environment
    assert b"zebrafinch" not in environment


def test_folders_are_for_the_server_alone(server: EmbeddedServer) -> None:
    folder = server.address.socket_folder.parent
    owner = server_account(folder / "postgres")
    for private in (folder / "postgres", folder / "socket"):
        assert (private.stat().st_uid, stat.S_IMODE(private.stat().st_mode)) == (owner.user_id, 0o700)
    # What root may have added is search permission for others; without it nothing is added.
    assert stat.S_IMODE(folder.stat().st_mode) == (0o701 if os.geteuid() == 0 else 0o700)


def test_locate_finds_the_running_server_whatever_the_temporary_folder(server: EmbeddedServer) -> None:
    assert locate(server.address.socket_folder.parent) == server.address


def test_locate_says_that_none_is_running(tmp_path: Path, folder: Path) -> None:
    for stopped in (tmp_path, folder):
        with pytest.raises(EmbeddedServerError, match=r"is not running\. .* Start it with make run"):
            locate(stopped)


def test_a_second_start_on_the_folder_is_refused_with_the_number_of_the_first(
    folder: Path, keep: Callable[[str], subprocess.Popen[str]]
) -> None:
    keeper = keep("first")
    with pytest.raises(EmbeddedServerError, match=rf"already runs .* \(process {keeper.pid}\)"):
        EmbeddedServer(folder).start()
    assert is_running(postmaster_of(folder))


def test_an_existing_cluster_starts_within_a_second_and_a_half(folder: Path) -> None:
    began = time.monotonic()
    with EmbeddedServer(folder):
        assert time.monotonic() - began < 1.5


@on_linux
def test_kill_9_of_keepline_stops_the_server_and_keeps_what_was_committed(
    folder: Path, keep: Callable[[str], subprocess.Popen[str]]
) -> None:
    keeper = keep("of the killed")
    number = postmaster_of(folder)
    keeper.kill()
    keeper.wait()
    wait_until(lambda: not is_running(number))
    with EmbeddedServer(folder) as server:
        assert "of the killed" in rows(server)


def test_a_server_that_was_left_behind_is_stopped_before_the_next(
    folder: Path, keep: Callable[[str], subprocess.Popen[str]]
) -> None:
    keeper = keep("abandon")
    orphan = postmaster_of(folder)
    keeper.kill()
    keeper.wait()
    time.sleep(0.2)
    assert is_running(orphan)
    with EmbeddedServer(folder) as server:
        assert postmaster_of(folder) != orphan
        assert not is_running(orphan)
        assert "abandon" in rows(server)


def test_kill_9_of_the_server_is_mended_and_keeps_what_was_committed(folder: Path) -> None:
    with EmbeddedServer(folder) as server:
        with psycopg.connect(server.conninfo("postgres", "postgres")) as connection:
            connection.execute("create table if not exists kept (line text)")
            connection.execute("insert into kept values ('before the kill')")
        number = postmaster_of(folder)
        server.ensure_running()
        assert postmaster_of(folder) == number
        os.kill(number, signal.SIGKILL)

        def is_new() -> bool:
            server.ensure_running()
            return postmaster_of(folder) != number

        wait_until(is_new)
        assert "before the kill" in rows(server)


def test_notes_of_a_dead_server_whose_number_is_in_use_again_are_no_obstacle(folder: Path) -> None:
    """PostgreSQL alone would refuse to start while any process of its user has that number."""
    account = server_account(folder / "postgres")
    with subprocess.Popen(["sleep", "600"], **account.process_options()) as other:
        try:
            notes = folder / "postgres" / "postmaster.pid"
            notes.write_text(f"{other.pid}\n{folder}/postgres\n1700000000\n5432\n{folder}/socket\n\n1 1\nready\n")
            os.chown(notes, account.user_id, account.group_id)
            with EmbeddedServer(folder) as server:
                assert setting(server, "fsync") == "on"
            assert other.poll() is None
        finally:
            other.kill()


def test_a_making_that_was_cut_short_is_made_anew(top: Path, server: EmbeddedServer) -> None:
    """The cluster of these tests was made where half a one lay."""
    assert not (top / "asked" / "postgres.new").exists()
    assert setting(server, "data_checksums") == "on"


def test_a_server_that_dies_at_the_start_shows_the_end_of_its_log(folder: Path) -> None:
    settings = folder / "postgres" / "postgresql.conf"
    text = settings.read_text()
    settings.write_text(f"{text}\nmax_wal_senders = many\n")
    server = EmbeddedServer(folder)
    with pytest.raises(EmbeddedServerError, match=r"(?s)did not start\. The data was left .*max_wal_senders"):
        server.start()
    settings.write_text(text)
    # The failed start has let go of the folder.
    with server:
        assert setting(server, "fsync") == "on"


def test_a_cluster_of_another_version_is_left_alone(folder: Path) -> None:
    version = folder / "postgres" / "PG_VERSION"
    version.write_text("17\n")
    try:
        with pytest.raises(EmbeddedServerError, match=r"made by PostgreSQL 17; this Keepline runs 18\. It was"):
            EmbeddedServer(folder).start()
    finally:
        version.write_text("18\n")


def test_a_data_folder_that_cannot_be_used_is_named_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddedServerError, match=r"cannot be started on the data folder .*/file/data: .* left"):
        EmbeddedServer(tmp_path / "file" / "data").start()


@pytest.mark.parametrize("name", ["x" * 120, "it's, a \\ é"])
def test_any_name_of_a_data_folder_will_do(folder: Path, name: str) -> None:
    """Too long for a socket, or not to be put into a list of hosts: then a short folder elsewhere serves."""
    renamed = folder.with_name(name)
    folder.rename(renamed)
    try:
        with EmbeddedServer(renamed) as server:
            elsewhere = server.address.socket_folder
            assert elsewhere.parent == Path(tempfile.gettempdir())
            assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o700
            assert setting(server, "fsync") == "on"
            assert locate(renamed) == server.address
        assert not elsewhere.exists()
    finally:
        renamed.rename(folder)


def test_a_socket_folder_that_others_may_enter_is_refused(folder: Path, tmp_path: Path) -> None:
    account = server_account(folder / "postgres")
    loose, linked, foreign = tmp_path / "loose", tmp_path / "linked", tmp_path / "foreign"
    loose.mkdir()
    loose.chmod(0o755)
    linked.symlink_to(loose)
    foreign.mkdir(mode=0o700)
    somebody = Account("somebody", account.user_id + 1, account.group_id)
    refused = [(account, loose), (account, linked)]
    if os.geteuid() == 0:
        make_folder(somebody, tmp_path / "theirs")
        refused.append((account, tmp_path / "theirs"))
    else:
        refused.append((somebody, Path("/usr")))
    for owner, path in refused:
        with pytest.raises(EmbeddedServerError, match="is not a folder that the database server alone can enter"):
            make_folder(owner, path)


@as_root
def test_root_opens_no_more_than_the_server_needs() -> None:
    """Search permission on what lies above; reading, and running what can be run, on the programs."""
    account = server_account(Path("/nonexistent"))
    top = Path(tempfile.mkdtemp())
    try:
        tree = top / "private" / "programs"
        tree.mkdir(parents=True)
        for name, mode in (("run", 0o700), ("read", 0o600)):
            (tree / name).touch()
            (tree / name).chmod(mode)
        for folder in (top / "private", tree):
            folder.chmod(0o700)
        let_pass(account, tree)
        let_read(account, tree)
        paths = (top, top / "private", tree, tree / "run", tree / "read")
        assert [oct(stat.S_IMODE(path.stat().st_mode)) for path in paths] == [
            "0o701",
            "0o701",
            "0o705",
            "0o705",
            "0o604",
        ]
    finally:
        shutil.rmtree(top)
