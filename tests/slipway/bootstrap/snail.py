"""A server that sends some files of a folder so slowly that nobody waits for their end."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BYTES_PER_SECOND = 100


@contextmanager
def dripping(folder: Path, suffix: str) -> Iterator[str]:
    """Its address; files whose names end in `suffix` come drop by drop."""

    class Snail(SimpleHTTPRequestHandler):
        def __init__(self, *details: Any) -> None:
            super().__init__(*details, directory=str(folder))

        def copyfile(self, source: Any, outputfile: Any) -> None:
            if not self.path.endswith(suffix):
                super().copyfile(source, outputfile)
                return
            with suppress(OSError):
                while drop := source.read(BYTES_PER_SECOND // 10):
                    outputfile.write(drop)
                    outputfile.flush()
                    time.sleep(0.1)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Snail) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
