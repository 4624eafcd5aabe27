"""Requests made up from the schema: none fails the server, and every answer is as the schema says."""

import os
import subprocess
import sys
from pathlib import Path

from serving import Here

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance,negative_data_rejection"
)


def test_no_request_that_the_schema_leads_to_fails_the_server(one: Here, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            Path(sys.executable).parent / "schemathesis",
            *("run", f"http://127.0.0.1:{one.port}/openapi.json", "--checks", CHECKS),
            *("--max-examples", "20", "--seed", "1", "--no-color"),
            *("--generation-database", "none", "--suppress-health-check", "all"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert one.count("requests_total") > 200
    assert one.texts(["abc"])
