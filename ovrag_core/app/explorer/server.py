"""Server of the explorer: Voila's, behind a token, with kernels that end with their pages."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, cast

import zmq
from jupyter_server.auth.identity import IdentityProvider
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.log import log_request
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from tornado.log import app_log
from tornado.web import HTTPError, RequestHandler
from tornado.websocket import WebSocketHandler
from traitlets import Bool, Float, Integer
from traitlets.config import Config
from voila.app import Voila
from voila.tornado.handler import TornadoVoilaHandler

LARGEST_UPLOAD = 200_000_000  # bytes
# Whatever a template asks for, nothing is loaded from or sent to another machine. Not every browser takes 'self' for
# web sockets too, so that the host, which has been checked, is named.
POLICY = (
    "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self' ws://{host} data: blob:; "
    "frame-ancestors 'self'; form-action 'self'"
)
NO_TOKEN = "Open the address that the explorer printed when it was started: it holds the token.\n"
FULL = "{most} pages of the explorer are open, each with a process of its own. Close one, then reload this page.\n"
LONGEST_TEMPORARY = 38  # characters of the temporary folder's name; a socket's path may have a hundred or so
# Appended to the page: says when its kernel is no more, which the page would not show otherwise.
WATCH = """
<script>
(() => {
  const kernel = JSON.parse(document.getElementById("jupyter-config-data").textContent).kernelId;
  const note = document.createElement("div");
  note.className = "ovx ovx-ended";
  note.hidden = true;
  const words = note.appendChild(document.createElement("p"));
  words.className = "say bad";
  words.role = "alert";
  document.body.prepend(note);
  setInterval(async () => {
    const reply = await fetch(`api/kernels/${kernel}`).catch(() => null);
    note.hidden = Boolean(reply?.ok);
    words.textContent = reply
      ? "The process behind this page was ended, because it was not used for long. Reload the page."
      : "The explorer was stopped. Start it again, and open the address that it prints.";
  }, 5000);
})();
</script>
"""
_started: ContextVar[list[str]] = ContextVar("kernels that the request in hand has started")


class TokenOnly(IdentityProvider):
    """Jupyter's token, without a password or a form to log in. An empty token lets nobody in."""

    login_available = False
    logout_available = False


class PageKernels(AsyncMappingKernelManager):
    """Kernels of pages: each ends with its page, an idle one after a while, and there are at most so many."""

    most = Integer(3, config=True, help="kernels at once")
    patience = Float(10, config=True, help="seconds that a kernel is kept without a connection to its page")
    longest_load = Float(180, config=True, help="seconds from the start of a kernel to the connection of its page")
    cull_idle_timeout = Integer(30 * 60, config=True)
    cull_interval = Integer(60, config=True)
    cull_connected = Bool(True, config=True)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._starting = 0
        self._ending: set[str] = set()
        self._left: set[str] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def start_kernel(self, **options: Any) -> str:  # type: ignore[override] # as Jupyter's, which are coroutines
        """Start a kernel; its id. Raises HTTPError 503 where as many as allowed have a page."""
        for left in tuple(self._left):
            await self.shutdown_kernel(left)
        if len(set(self.list_kernel_ids()) - self._ending) + self._starting >= self.most:
            raise HTTPError(503, FULL.format(most=self.most).replace("%", "%%"))
        self._starting += 1
        try:
            kernel_id: str = await super().start_kernel(**options)
        finally:
            self._starting -= 1
        _started.get([]).append(kernel_id)
        self._end_after(kernel_id, self.longest_load)
        return kernel_id

    async def shutdown_kernel(  # type: ignore[override] # as above
        self, kernel_id: str, now: bool = False, restart: bool = False
    ) -> None:
        """End a kernel; nothing where that has begun already."""
        self._keep(kernel_id)
        if kernel_id in self._ending:
            return
        self._ending.add(kernel_id)
        try:
            await super().shutdown_kernel(kernel_id, now=now, restart=restart)  # type: ignore[no-untyped-call]
        finally:
            self._ending.discard(kernel_id)

    def notify_connect(self, kernel_id: str) -> None:
        """Keep a kernel, to which a page connected."""
        super().notify_connect(kernel_id)  # type: ignore[no-untyped-call]
        self._keep(kernel_id)

    def notify_disconnect(self, kernel_id: str) -> None:
        """End a kernel soon, unless its page comes back."""
        super().notify_disconnect(kernel_id)  # type: ignore[no-untyped-call]
        if not self._kernel_connections.get(kernel_id):
            self.leave(kernel_id, self.patience)

    def leave(self, kernel_id: str, seconds: float = 0) -> None:
        """End a kernel whose page was left after so many seconds, or when its place is needed."""
        if kernel_id in self and kernel_id not in self._ending:
            self._end_after(kernel_id, seconds)
            self._left.add(kernel_id)

    def _end_after(self, kernel_id: str, seconds: float) -> None:
        self._keep(kernel_id)
        self._timers[kernel_id] = asyncio.get_running_loop().call_later(seconds, self._end, kernel_id)

    def _end(self, kernel_id: str) -> None:
        if kernel_id in self:
            self._last = asyncio.ensure_future(self.shutdown_kernel(kernel_id))

    def _keep(self, kernel_id: str) -> None:
        self._left.discard(kernel_id)
        if timer := self._timers.pop(kernel_id, None):
            timer.cancel()


class Discreet(RequestHandler):
    """Handler that keeps addresses, which may hold the token, out of the log of errors."""

    def log_exception(self, kind: Any, error: Any, trace: Any) -> None:
        """Log what nobody foresaw; the log of requests has the rest."""
        if not isinstance(error, HTTPError):
            app_log.error("%s failed", type(self).__name__, exc_info=(kind, error, trace))


class Guarded(Discreet, JupyterHandler):
    """Handler that answers who has the token, under a name of this machine, and says in a sentence why not."""

    async def prepare(self) -> None:  # type: ignore[override] # as JupyterHandler's
        """Check Host and token; Jupyter would give some files away without."""
        await super().prepare()
        if self.current_user is None:
            raise HTTPError(403, NO_TOKEN)

    @property
    def content_security_policy(self) -> str:
        """The policy, with the page's own host."""
        return POLICY.format(host=self.request.host)

    def get_login_url(self) -> str:
        """Refuse; there is no page to log in."""
        raise HTTPError(403, NO_TOKEN)

    def write_error(self, status_code: int, **details: Any) -> None:
        """Answer with the sentence of the error."""
        error = details.get("exc_info", (None, None, None))[1]
        reason = error.log_message if isinstance(error, HTTPError) else None
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(reason or f"{status_code}: {self._reason}\n")


class ExplorerPage(Guarded, TornadoVoilaHandler):  # type: ignore[misc] # Voila has no types
    """The page, whose kernel ends where it is left before it is whole."""

    def initialize(self, **options: Any) -> None:
        """Take Voila's options."""
        super().initialize(**options)
        self.started: list[str] = []
        self.is_left = False

    async def get(self, path: str = "") -> None:
        """Send the page, after the token has left the address: neither history nor kernel shall keep it."""
        if path:
            raise HTTPError(404)
        if "token" in self.request.query_arguments:
            self.redirect(self.base_url)
            return
        self.xsrf_token  # noqa: B018 - sets the cookie with which a page that closes may end its kernel
        _started.set(self.started)
        snippets: AsyncIterator[str] = self.get_generator()
        async for snippet in snippets:
            if self.is_left:
                break
            self.write(snippet)
            self.flush()
        if self.is_left:
            self.on_connection_close()
        else:
            self.write(WATCH)

    def on_connection_close(self) -> None:
        """End what was started for a page that nobody waits for."""
        self.is_left = True
        kernels = cast("PageKernels", self.kernel_manager)
        for kernel_id in self.started:
            kernels.leave(kernel_id)


class Explorer(Voila):  # type: ignore[misc] # Voila has no types
    """Voila for one notebook, for the person who started it."""

    def init_settings(self) -> dict[str, Any]:
        """Voila's settings, with the Host check on and tokens kept out of the log."""
        return {
            **super().init_settings(),
            "allow_remote_access": False,
            "allow_unauthenticated_access": False,
            "log_function": partial(log_request, record_prometheus_metrics=False),
            "websocket_max_message_size": LARGEST_UPLOAD,
            "headers": {"Referrer-Policy": "same-origin"},
        }

    def init_handlers(self) -> list[tuple[Any, ...]]:
        """Voila's handlers, each behind token and Host check, those for plain files too."""
        return [(path, _guarded(handler), *options) for path, handler, *options in super().init_handlers()]

    def launch_browser(self) -> None:
        """Open the page by way of a file of the owner's, so that no list of processes shows the token."""
        file = Path(self.connection_dir, "open.html")
        file.write_text(f'<meta http-equiv="refresh" content="0;url={self.display_url}">', encoding="utf-8")
        with suppress(webbrowser.Error):
            browser = webbrowser.get(self.browser or None)
            threading.Thread(target=browser.open, args=(file.as_uri(), self.webbrowser_open_new)).start()


def make_server(notebook: Path, options: list[str]) -> Explorer:
    """Return the server for a notebook; `options` are Voila's."""
    temporary = tempfile.gettempdir()
    config = Config(
        {
            "IdentityProvider": {"cookie_options": {"samesite": "Lax"}},
            # Other users of the machine may listen to a kernel's port; they cannot open a folder of its owner.
            "KernelManager": {"transport": "ipc" if zmq.has("ipc") else "tcp"},
            "Voila": {
                "auto_token": True,
                "identity_provider_class": TokenOnly,
                "connection_dir_root": temporary if len(temporary) <= LONGEST_TEMPORARY else "/tmp",
            },
            "VoilaConfiguration": {
                "strip_sources": True,
                "theme": "light",
                "allow_template_override": "NO",
                "allow_theme_override": "NO",
                "file_allowlist": [],
                "multi_kernel_manager_class": PageKernels,
            },
        }
    )
    server = Explorer(config=config)
    server.initialize([str(notebook), *options])
    return server


def _guarded(handler: type) -> type:
    if handler is TornadoVoilaHandler:
        return ExplorerPage
    if issubclass(handler, (APIHandler, WebSocketHandler)):
        return type(handler.__name__, (Discreet, handler), {})  # Jupyter checks token and Host in these
    return type(handler.__name__, (Guarded, handler), {})
