"""How the server is: alive, ready, busy."""

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from regard.server.documents import refusals
from regard.server.problems import Problem
from regard.server.tallies import resident_bytes
from regard.server.wire import Status

router = APIRouter()


@router.get("/healthz", response_model=Status)
async def healthz() -> dict[str, str]:
    """Whether the process is alive."""
    return {"status": "ok"}


@router.get("/readyz", response_model=Status, responses=refusals(503))
async def readyz(request: Request) -> dict[str, str]:
    """Whether the models are loaded and answer."""
    if not request.state.worker.is_alive():
        raise Problem(503, "The model's thread has ended.")
    return {"status": "ok"}


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **refusals(401)},
)
async def metrics(request: Request) -> Response:
    """Counts in the text format of Prometheus, of the process that answers."""
    desk = request.state.desk
    gauges = {
        "requests_under_way": desk.under_way,
        "inputs_waiting": len(desk.line),
        "connections": request.state.connections.value,
        "resident_bytes": resident_bytes(),
    }
    return PlainTextResponse(desk.tallies.written(gauges))
