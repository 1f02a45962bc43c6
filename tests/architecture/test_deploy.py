"""What `deploy/` names exists, and its files are what the programs that read them accept."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.urls import resolve

from config import env
from tests.support.programs import PROGRAMS

DEPLOY: Final = env.ROOT / "deploy"
FOLDERS: Final = ("container", "compose", "kubernetes", "systemd", "proxy")
FILES: Final = tuple(
    path for folder in FOLDERS for path in sorted((DEPLOY / folder).rglob("*")) if path.is_file()
)
MANIFESTS: Final = tuple(
    path
    for path in sorted((DEPLOY / "kubernetes").rglob("*.yaml"))
    if path.name not in {"kustomization.yaml", "scaling.yaml"}  # of programs beside Kubernetes
)
UNITS: Final = tuple(sorted((DEPLOY / "systemd").glob("cairn*.service")))
NOT_READ_BY_US: Final = frozenset({"CAIRN_DOMAIN", "CAIRN_UPSTREAM"})  # by proxies
KUBERNETES: Final = "1.37"


def documents(path: Path) -> Iterator[Any]:
    """Yield the documents of a file of YAML."""
    yield from yaml.safe_load_all(path.read_text(encoding="utf-8"))


def pods() -> Iterator[tuple[str, Any]]:
    """Yield what Kubernetes runs, by name."""
    for path in MANIFESTS:
        for one in documents(path):
            if "template" in one.get("spec", {}):
                yield one["metadata"]["name"], one["spec"]["template"]["spec"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_setting_that_a_file_names_exists(path: Path) -> None:
    named = set(re.findall(r"\bCAIRN_[A-Z_]+\b", path.read_text(encoding="utf-8")))

    assert named - NOT_READ_BY_US <= {variable.name for variable in env.VARIABLES}


def test_examples_name_what_production_needs() -> None:
    needed = {"CAIRN_SECRET_KEY", "CAIRN_TOKEN_PEPPER", "CAIRN_BASE_URL"}
    servers = {"DATABASE_URL", "REDIS_URL"}
    service = next(documents(DEPLOY / "compose/compose.yaml"))["services"]["web"]
    example = (DEPLOY / "systemd/cairn.env.example").read_text(encoding="utf-8")

    assert needed | servers <= set(service["environment"])
    assert needed | servers <= set(re.findall(r"^(\w+)=", example, re.M))


def test_the_compose_file_is_one_and_asks_only_for_what_its_example_has() -> None:
    path = DEPLOY / "compose/compose.yaml"
    example = (DEPLOY / "compose/.env.example").read_text(encoding="utf-8")
    checker = Path(sys.executable).with_name("check-jsonschema")

    done = subprocess.run(
        [checker, "--builtin-schema", "vendor.compose-spec", path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout
    asked = set(re.findall(r"\$\{(\w+)", path.read_text(encoding="utf-8")))
    assert asked == set(re.findall(r"^(\w+)=", example, re.M))


@pytest.mark.parametrize("service", ["web", "worker", "beat", "migrate"])
def test_containers_run_without_rights_on_a_read_only_root(service: str) -> None:
    one = next(documents(DEPLOY / "compose/compose.yaml"))["services"][service]
    image = (DEPLOY / "container/Containerfile").read_text(encoding="utf-8")

    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert "DATABASE_OWNER_URL" not in one["environment"] or service == "migrate"
    assert re.search(r"^USER 10001:10001$", image, re.M)


def test_what_the_image_copies_and_runs_exists() -> None:
    image = (DEPLOY / "container/Containerfile").read_text(encoding="utf-8")
    ignored = (env.ROOT / ".dockerignore").read_text(encoding="utf-8")

    modules = set(re.findall(r"-m ((?:config|memory)[\w.]+)", image))
    modules.add(re.search(r'"-m", "(config[\w.]+)", "web"\]$', image, re.M)[1])  # type: ignore[index]
    folders = re.search(r"compileall -q (.+)$", image, re.M)[1].split()  # type: ignore[index]

    assert len(modules) == 4
    assert all((env.ROOT / f"{name.replace('.', '/')}.py").is_file() for name in modules)
    assert all((env.ROOT / name).exists() for name in re.findall(r"^!(.+)$", ignored, re.M))
    assert {f"!{name}" for name in folders} <= set(ignored.splitlines())


def test_the_user_of_the_image_owns_the_rules_and_the_build_fails_where_they_are_not_read() -> None:
    image = (DEPLOY / "container/Containerfile").read_text(encoding="utf-8")
    _, _, as_user = image.partition("USER 10001:10001\n")

    (compiled,) = re.findall(r"scanner --into (/\S+)$", image, re.M)

    assert f"COPY --from=build --chown=10001:10001 {compiled} /app/models\n" in image
    assert "RUN python -m memory.secrets.scanner --into models --check\n" in as_user


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_manifests_are_of_kubernetes(path: Path) -> None:
    for one in documents(path):
        kubernetes_validate.validate(one, KUBERNETES, strict=True)


def test_the_kustomization_names_every_manifest() -> None:
    named = next(documents(DEPLOY / "kubernetes/base/kustomization.yaml"))["resources"]

    assert {DEPLOY / "kubernetes/base" / name for name in named} == set(MANIFESTS)


@pytest.mark.parametrize("name", ["web", "worker", "beat", "migrate"])
def test_pods_have_no_rights_and_only_the_migration_is_the_owner(name: str) -> None:
    pod = dict(pods())[name]
    (container,) = pod["containers"]

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert ("DATABASE_OWNER_URL" in json.dumps(container)) is (name == "migrate")
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        volume["name"] for volume in pod["volumes"]
    }


def test_probes_ask_for_pages_that_exist_and_selectors_find_their_pods() -> None:
    found = [(name, one) for path in MANIFESTS for one in documents(path) for name in [one["kind"]]]
    labels = {name for name, _ in pods()}
    web = (DEPLOY / "kubernetes/base/web.yaml").read_text(encoding="utf-8")
    probes = re.findall(r"httpGet: { path: (\S+), port: http }", web)

    assert [resolve(path).url_name for path in probes] == [None] * 3
    for kind, one in found:
        if kind in {"Service", "PodDisruptionBudget"}:
            selector = one["spec"]["selector"]
            wanted = selector.get("matchLabels", selector)
            assert wanted["app.kubernetes.io/name"] in labels
        if kind == "HorizontalPodAutoscaler":
            assert one["spec"]["scaleTargetRef"]["name"] in labels


def test_the_caddyfile_is_valid() -> None:
    caddy = Path(sys.executable).with_name("caddy")
    done = subprocess.run(
        [caddy, "validate", "--adapter", "caddyfile", "--config", DEPLOY / "proxy/Caddyfile"],
        env={**os.environ, "CAIRN_DOMAIN": "cairn.example.com"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr


@pytest.mark.nginx
def test_nginx_takes_its_configuration(tmp_path: Path) -> None:
    nginx = PROGRAMS["nginx"].require()
    write_certificate(tmp_path)
    site = (DEPLOY / "proxy/nginx.conf").read_text(encoding="utf-8")
    (tmp_path / "site.conf").write_text(site.replace("/etc/ssl/cairn", str(tmp_path)))
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n  access_log off;\n"
        f"  include {tmp_path}/site.conf;\n}}\n"
    )

    done = subprocess.run(
        [nginx, "-t", "-e", tmp_path / "log", "-p", tmp_path, "-c", tmp_path / "nginx.conf"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr


@pytest.mark.systemd
def test_systemd_takes_the_units_and_they_start_what_exists(tmp_path: Path) -> None:
    systemd = PROGRAMS["systemd"].require()
    for path in UNITS:
        unit = path.read_text(encoding="utf-8").replace("/opt/cairn/.venv/bin/python", "/bin/true")
        (tmp_path / path.name).write_text(unit.replace("/opt/cairn", str(env.ROOT)))
    shutil.copy(DEPLOY / "systemd/cairn.target", tmp_path)

    done = subprocess.run(
        [systemd, "verify", "--man=no", *sorted(tmp_path.iterdir())],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    programs = {path.name: path.read_text(encoding="utf-8") for path in UNITS}
    ours = [line for line in done.stderr.splitlines() if "cairn" in line]
    assert (done.returncode, ours) == (0, [])
    assert len(UNITS) == 4
    assert "-m config.embedded.serving web\n" in programs["cairn-web.service"]
    assert {name for name, text in programs.items() if "RuntimeDirectory=cairn\n" in text} == {
        name for name, text in programs.items() if "MULTIPROC_DIR=/run/cairn\n" in text
    }


def write_certificate(folder: Path) -> None:
    """Write a key and a certificate that its holder signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cairn.example.com")])
    begins = datetime.now(UTC)
    made = x509.CertificateBuilder(
        issuer_name=name, subject_name=name, public_key=key.public_key(), serial_number=1,
        not_valid_before=begins, not_valid_after=begins + timedelta(days=1),
    )  # fmt: skip
    signed = made.sign(key, hashes.SHA256())
    (folder / "fullchain.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
