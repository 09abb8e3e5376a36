"""The one method of the client of ddgs 9.16.1 that our worker watches."""

from dataclasses import dataclass


@dataclass
class Response:
    status_code: int


class HttpClient:
    def __init__(self, status: int) -> None:
        self.status = status

    def request(self, *args: str, **kwargs: str) -> Response:
        return Response(self.status)
