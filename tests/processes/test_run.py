"""`keepline run` as an operator meets it: real processes, real signals, real kills."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import psutil
import psycopg
import pytest

from tenancy.embedded import EmbeddedServer, locate

KEEPLINE = [sys.executable, "-m", "commands.main"]


class Running:
    """One `keepline run` on a folder and port of its own."""

    def __init__(self, folder: Path, port: int, **environment: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KEEPLINE_")}
        self.folder, self.port = folder, port
        self.environment = {
            **kept,
            "KEEPLINE_DATA_DIR": str(folder),
            "KEEPLINE_PORT": str(port),
            "KEEPLINE_DEMO": "1",
            **environment,
        }
        self.process: subprocess.Popen[str] | None = None
        self.output = ""

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*KEEPLINE, "run"], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if line.startswith("A token:"):
                return
        pytest.fail(f"keepline run ended before it was ready:\n{self.output}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        code = self.process.wait(40)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def kill_everything(self) -> None:
        """kill -9 of the whole tree, the database server included."""
        assert self.process is not None
        tree = [psutil.Process(self.process.pid), *psutil.Process(self.process.pid).children(recursive=True)]
        for process in tree:
            process.kill()
        psutil.wait_procs(tree, 20)
        self.stop(signal.SIGKILL)

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*KEEPLINE, *arguments], env=self.environment, capture_output=True, text=True)

    def token(self, name: str, kind: str = "assistant") -> str:
        answered = self.command("token", name, "--as", kind)
        assert answered.returncode == 0, answered.stderr
        return answered.stdout.strip()

    def call(self, method: str, path: str, token: str, **options: object) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {token}"}
        address = f"http://127.0.0.1:{self.port}{path}"
        return httpx2.request(method, address, headers=headers, trust_env=False, timeout=20, **options)


@contextmanager
def short_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="keepline-run-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with short_folder() as folder:
        running = Running(folder, 24_100 + os.getpid() % 500)
        running.start()
        yield running
        if running.process is not None and running.process.poll() is None:
            running.stop()


def test_the_tour_from_token_to_prompt(running: Running) -> None:
    token = running.token("member")
    saved = running.call("PUT", "/v1/memory/block", token, json={"text": "- Call me Mina."})
    assert saved.status_code == 200
    prompt = running.call("GET", "/v1/prompt", token)
    assert "\n- Call me Mina.\n" in prompt.json()["text"]
    others = ("colleague", "outsider", "lead", "reviewer", "admin", "stranger", "stranger-admin")
    for other in others:
        assert "Mina" not in running.call("GET", "/v1/prompt", running.token(other)).text


def test_it_says_where_it_is_and_who_can_sign_in(running: Running) -> None:
    assert f"http://127.0.0.1:{running.port}" in running.output
    for name in ("member", "colleague", "lead", "outsider", "reviewer", "admin", "stranger-admin"):
        assert f" {name} " in running.output


def test_the_web_logs_in_as_nothing_stronger_than_the_app(running: Running) -> None:
    with psycopg.connect(locate(running.folder).conninfo("postgres")) as connection:
        logins = {
            name
            for (name,) in connection.execute(
                "SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = 'keepline' AND pid <> pg_backend_pid()"
            )
        }
    assert logins <= {"keepline_app", "keepline_worker", "keepline_migrate"}
    assert "keepline_app" in logins


def test_psql_shows_nothing_to_the_app_and_lets_the_owner_work(running: Running) -> None:
    running.call("PUT", "/v1/memory/block", running.token("member"), json={"text": "- There is a row."})
    app = running.command("psql", "--role", "app", "--print").stdout.strip()
    owner = running.command("psql", "--role", "owner", "--print").stdout.strip()
    with psycopg.connect(app) as connection:
        assert connection.execute("SELECT count(*) FROM app.blocks").fetchone() == (0,)
    with psycopg.connect(owner) as connection:
        assert connection.execute("SELECT current_user::text").fetchone() == ("keepline_owner",)


def test_the_demo_clock_moves_stored_times_and_no_credential(running: Running) -> None:
    token = running.token("member")
    moved = running.command("demo", "clock", "+91d")
    assert moved.returncode == 0, moved.stderr
    try:
        running.call("PUT", "/v1/memory/block", token, json={"text": "- Written later."}).raise_for_status()
        later = running.call("GET", "/v1/memory/block", token).json()["updated_at"]
        entry = running.call("GET", "/v1/memory/changes", token).json()["items"][0]["at"]
        expected = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 91 * 86_400))
        assert later.startswith(expected)
        assert entry.startswith(expected)
        assert running.call("GET", "/v1/prompt", running.token("member")).status_code == 200
    finally:
        assert running.command("demo", "clock", "0").returncode == 0


def test_wrong_names_are_answered_in_a_sentence(running: Running) -> None:
    unknown = running.command("token", "nobody")
    assert unknown.returncode == 1
    assert "member" in unknown.stderr
    assert "Traceback" not in unknown.stderr


def test_a_second_start_on_the_same_port_is_refused_in_a_sentence(running: Running) -> None:
    with short_folder() as folder:
        refused = subprocess.run(
            [*KEEPLINE, "run"],
            env={**running.environment, "KEEPLINE_DATA_DIR": str(folder)},
            capture_output=True,
            text=True,
        )
    assert refused.returncode == 1
    assert "KEEPLINE_PORT" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_kill_9_of_everything_loses_no_acknowledged_save() -> None:
    with short_folder() as folder:
        running = Running(folder, 24_700 + os.getpid() % 500)
        running.start()
        token = running.token("member")
        for round_number in range(3):
            acknowledged = ""
            deadline = time.monotonic() + 1.5
            while time.monotonic() < deadline:
                text = f"- Round {round_number} at {time.monotonic_ns()}"
                if running.call("PUT", "/v1/memory/block", token, json={"text": text}).status_code == 200:
                    acknowledged = text
            running.kill_everything()
            running.start()
            token = running.token("member")
            assert running.call("GET", "/v1/memory/block", token).json()["text"] == acknowledged
        assert running.stop() == 0


@pytest.mark.slow
def test_kill_9_of_the_supervisor_alone_leaves_nothing_running() -> None:
    with short_folder() as folder:
        running = Running(folder, 25_300 + os.getpid() % 500)
        running.start()
        assert running.process is not None
        tree = psutil.Process(running.process.pid).children(recursive=True)
        assert len(tree) >= 5
        running.stop(signal.SIGKILL)
        _, alive = psutil.wait_procs(tree, 30)
        assert alive == []
        running.start()
        assert running.stop(signal.SIGINT) == 0


@pytest.mark.slow
def test_two_run_side_by_side_and_keep_apart(running: Running) -> None:
    with short_folder() as folder:
        second = Running(folder, running.port + 1)
        second.start()
        first_token, second_token = running.token("member"), second.token("member")
        running.call("PUT", "/v1/memory/block", first_token, json={"text": "- Of the first."}).raise_for_status()
        assert second.call("GET", "/v1/memory/block", second_token).json()["exists"] is False
        assert second.call("GET", "/v1/memory/block", first_token).status_code == 401
        assert second.stop() == 0


@pytest.mark.slow
def test_the_same_on_an_external_postgresql_by_its_three_urls() -> None:
    with short_folder() as external, short_folder() as folder, EmbeddedServer(external) as server:
        server.create_database()
        roles = subprocess.run([*KEEPLINE, "migrate", "--print-roles"], check=True, capture_output=True).stdout
        with psycopg.connect(server.conninfo("postgres"), autocommit=True) as connection:
            connection.execute(roles)
        running = Running(
            folder,
            25_900 + os.getpid() % 500,
            KEEPLINE_DATABASE_URL=server.conninfo("keepline_app"),
            KEEPLINE_WORKER_DATABASE_URL=server.conninfo("keepline_worker"),
            KEEPLINE_OWNER_DATABASE_URL=server.conninfo("keepline_migrate"),
            KEEPLINE_SECRET_KEY="s" * 40,
            KEEPLINE_IDENTITY_KEY="i" * 40,
        )
        running.start()
        token = running.token("member")
        running.call("PUT", "/v1/memory/block", token, json={"text": "- Kept outside."}).raise_for_status()
        assert not (folder / "postgres").exists()
        assert "- Kept outside." in running.call("GET", "/v1/prompt", token).json()["text"]
        assert running.stop() == 0


@pytest.mark.slow
def test_an_org_without_the_demo_is_made_by_commands(running: Running) -> None:
    made = running.command(
        "org", "add", "northwind", "--name", "Northwind", "--issuer", "https://id.northwind.example",
        "--audience", "keepline", "--client-id", "keepline-web",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "/login/callback" in made.stdout
    registered = running.command("client", "add", "northwind", "helper", "--name", "Helper")
    assert registered.returncode == 0, registered.stderr
    taken = running.command(
        "org", "add", "southwind", "--name", "Southwind", "--issuer", "https://id.northwind.example",
        "--audience", "keepline", "--client-id", "keepline-web",
    )  # fmt: skip
    assert taken.returncode == 1
    assert "another org" in taken.stderr
    unknown = running.command("client", "add", "southwind", "helper", "--name", "Helper")
    assert unknown.returncode == 1
