"""Make the two embedded servers ready to be started: programs found, data folders made (10.1)."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from config.embedded import identity, places, postgres, remains, valkey
from config.embedded.errors import HomeError

SHARED_BUFFERS_VARIABLE = "CAIRN_PG_SHARED_BUFFERS"
DEFAULT_SHARED_BUFFERS = "128MB"


def prepare_postgres(
    *, home: Path, environment: Mapping[str, str], durability: postgres.Durability
) -> postgres.Cluster:
    """Find the programs, choose as whom they run, and make the data folder on the first start.

    Raises BinaryError, HomeError or ServerError.
    """
    owner = identity.choose(environment=environment)
    if owner.user is not None and home.stat().st_uid == os.geteuid():
        home.chmod(0o711)
    binaries = postgres.find_binaries(environment=environment)
    cluster = postgres.Cluster(
        binaries=places.reachable_binaries(binaries=binaries, owner=owner),
        data=places.data_folder(home=home, owner=owner),
        sockets=places.socket_folder(home=home, owner=owner, environment=environment),
        identity=owner,
        durability=durability,
        shared_buffers=environment.get(SHARED_BUFFERS_VARIABLE) or DEFAULT_SHARED_BUFFERS,
    )
    remains.clear(folder=cluster.data, pid_file=cluster.data / postgres.PID_NAME)
    places.give(folder=cluster.data, owner=owner)
    if not postgres.is_initialized(cluster=cluster):
        _refuse_foreign(folder=cluster.data)
        postgres.initialize(cluster=cluster)
    return cluster


def prepare_store(*, home: Path, environment: Mapping[str, str]) -> valkey.Store:
    """Find the program and make the data folder; raises BinaryError or HomeError."""
    data = home / "redis"
    data.mkdir(mode=0o700, exist_ok=True)
    remains.clear(folder=data, pid_file=data / valkey.PID_NAME)
    sockets = places.socket_folder(home=home, owner=identity.SELF, environment=environment)
    return valkey.Store(binary=valkey.find_binary(), data=data, sockets=sockets)


def tidy(*, home: Path, environment: Mapping[str, str]) -> None:
    """Remove the socket folders of stopped servers."""
    for owner in (identity.choose(environment=environment), identity.SELF):
        folder = places.socket_path(home=home, owner=owner, environment=environment)
        shutil.rmtree(folder, ignore_errors=True)


def _refuse_foreign(*, folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise HomeError(f"{folder} is not a Postgres data folder; move it away.")
    if folder.exists():
        shutil.rmtree(folder)
