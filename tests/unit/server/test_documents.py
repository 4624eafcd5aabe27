"""What the API is, told without anybody's help."""

import re
from urllib.parse import urljoin

from serving import Here


def test_the_page_of_the_api_tells_every_route_and_fetches_nothing_from_elsewhere(server: Here) -> None:
    page = server.get("/docs").body.decode()
    schema = server.get("/openapi.json").json
    for path in schema["paths"]:
        assert path in page
    for field in schema["components"]["schemas"]["Ask"]["properties"]:
        assert f"<code>{field}</code>" in page
    assert "http://" not in page
    assert "https://" not in page
    (style,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page)
    assert server.get(urljoin("/docs", style)).headers["content-type"].startswith("text/css")


def test_the_links_of_the_page_stay_behind_the_path_of_a_proxy(server: Here) -> None:
    page = server.get("/docs").body.decode()
    links = [one for one in re.findall(r'href="([^"]+)"', page) if not one.startswith("#")]
    assert {urljoin("/some/path/docs", one) for one in links} == {
        "/some/path/docs/style.css",
        "/some/path/openapi.json",
    }


def test_every_link_within_the_page_leads_somewhere(server: Here) -> None:
    page = server.get("/docs").body.decode()
    assert set(re.findall(r'href="#(\w+)"', page)) <= set(re.findall(r'id="(\w+)"', page))


def test_the_schema_refers_to_nothing_that_is_not_there(server: Here) -> None:
    body = server.get("/openapi.json").body.decode()
    known = server.get("/openapi.json").json["components"]["schemas"]
    assert set(re.findall(r'"\$ref":"#/components/schemas/(\w+)"', body)) <= set(known)


def test_there_is_a_page(server: Here) -> None:
    reply = server.get("/")
    assert reply.headers["content-type"].startswith("text/html")
    assert b"Regard" in reply.body
    assert server.get("/index.html").status == 404


def test_the_counts_can_be_read_by_prometheus(server: Here) -> None:
    server.texts(["abc"], model="recurrent")
    lines = server.get("/metrics").body.decode().splitlines()
    for line in lines:
        assert re.fullmatch(
            r"# (HELP|TYPE) regard_\w+ .+|regard_\w+(\{(\w+=\"[^\"]*\",?)+\})? [\d.e+-]+", line
        ), line
    assert any(line.startswith('regard_inputs_total{model="recurrent"}') for line in lines)
    assert server.count("resident_bytes") > 10**7
