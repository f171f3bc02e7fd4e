"""``fewgold serve``: serves the web pages."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path
from typing import Any

import typer

from fewgold.cli import parse
from fewgold.cli.console import fail, say, to_json
from fewgold.cli.options import Json, Quiet, argument, flag, option

_EVERYWHERE = frozenset({"0.0.0.0", "::"})
_NAME = re.compile(r"[a-z0-9._-]+|[0-9a-f:]+")
_TOKEN = re.compile(r"[A-Za-z0-9_.~-]{16,}")


def _what(place: str | None) -> dict[str, Any]:
    """A campaign, or a folder of campaigns."""
    from fewgold.campaign.database import FILE

    path = Path("." if place is None else place)
    folder = path.is_dir() and not (path / FILE).is_file()
    return {"folder" if folder else "campaign": path}


def serve(
    place: str | None = argument(
        None,
        "[CAMPAIGN|FOLDER]",
        "A campaign, or a folder in which campaigns are kept and begun. Default: the current "
        "folder.",
    ),
    port: int = option(0, "P", "Port to listen on (0: any free port).", min=0, max=65535),
    host: str = option(
        "127.0.0.1", "ADDRESS", "Address to listen on. Anything but this machine needs --public."
    ),
    public: bool = flag(
        False, "--public", "Let other machines reach it. Use HTTPS, because the links are secret."
    ),
    name: str | None = option(
        None, "NAME,…", "Host names at which browsers reach it, such as rate.example.org."
    ),
    token: str | None = option(
        None,
        "SECRET",
        "Secret of the owner, at least 16 characters. Default: a new one.",
        envvar="FEWGOLD_TOKEN",
    ),
    https: bool = flag(False, "--https", "Browsers use HTTPS: send cookies only over HTTPS."),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Open the web pages to set up, rate and follow campaigns.

    Prints the address for you, the owner. The page Raters makes a link for each
    rater, which lets them do nothing but rate.

    Example: [bold]fewgold serve study[/bold]
    """
    try:
        import uvicorn

        from fewgold.web import create_app
    except ImportError as error:
        from fewgold.errors import FewgoldError

        raise FewgoldError(
            f'the pages need further packages ({error.name}). pip install "fewgold[web]"'
        ) from None
    from fewgold.web.site import LOOPBACK

    host = host.lower()
    names = frozenset(n.lower() for n in parse.names(name))
    strange = sorted(n for n in names if not _NAME.fullmatch(n))
    if strange:
        raise typer.BadParameter(
            f"--name {strange[0]}: give a host name only, without http:// and port, such as "
            f"rate.example.org."
        )
    if host not in LOOPBACK and not public:
        raise typer.BadParameter(
            f"--host {host} can be reached from other machines. If you mean that, add --public."
        )
    if not names and host in _EVERYWHERE:
        raise typer.BadParameter(
            "--public needs the host names at which browsers reach it: --name rate.example.org."
        )
    if token is not None and not _TOKEN.fullmatch(token):
        raise typer.BadParameter(
            "--token must have at least 16 characters: letters, digits, and any of - _ . ~"
        )
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
            listening.listen(
                2048
            )  # browsers that come as soon as the address is printed wait in line
        except OSError as error:
            fail(
                f"cannot listen on {host}, port {port}: {error.strerror or error}. "
                "Choose another with --port, or 0 for any free port."
            )
        found = int(listening.getsockname()[1])
        hosts = names | (LOOPBACK if host in LOOPBACK else {host} - _EVERYWHERE)
        app = create_app(**_what(place), token=token, hosts=hosts, port=found, secure=https)
        shown = sorted(names)[0] if names else host
        shown = f"[{shown}]" if ":" in shown else shown
        address = f"{'https' if https else 'http'}://{shown}"
        address += "" if names and https else f":{found}"
        owner = f"{address}/?token={app.state.site.token}"
        if json:
            print(to_json({"address": owner, "port": found}), flush=True)
        else:
            print(owner, flush=True)
            say("Open it in a browser. Ctrl-C ends it; nothing is lost.", quiet)
        sys.stdout.flush()
        server = uvicorn.Server(
            uvicorn.Config(
                app, log_level="warning", server_header=False, access_log=False, lifespan="off",
                ws="none", timeout_graceful_shutdown=5, proxy_headers=False,
            )
        )  # fmt: skip
        server.run(sockets=[listening])
