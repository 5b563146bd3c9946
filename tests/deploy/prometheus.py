"""A Prometheus of the tests' own, which scrapes one sidecar every second and is gone afterwards."""

import json
import pathlib
import tempfile
import urllib.parse
import urllib.request

import yaml
from support.processes import end, free_port, spawn
from support.waiting import wait_until


class Prometheus:
    def __init__(self, target, rules):
        self.target = target
        self.rules = rules
        self.port = free_port()

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="lgprom-")
        folder = pathlib.Path(self.folder.name)
        configuration = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(self.rules)],
            "scrape_configs": [{"job_name": "ledgergate", "static_configs": [{"targets": [self.target]}]}],
        }
        (folder / "prometheus.yaml").write_text(yaml.safe_dump(configuration))
        self.log = open(folder / "log", "wb")
        self.process = spawn(
            [
                "prometheus",
                f"--config.file={folder}/prometheus.yaml",
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=self.log,
            stderr=self.log,
        )
        try:
            wait_until(self._has_scraped, "Prometheus to scrape the sidecar")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end(self.process)
        self.log.close()
        self.folder.cleanup()

    def get(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]

    def query(self, expression):
        return self.get("/api/v1/query", query=expression)["result"]

    def samples(self, name):
        """How many scrapes of a series are there in the last minute."""
        found = self.query(f"count_over_time({name}[1m])")
        return max((float(each["value"][1]) for each in found), default=0)

    def _has_scraped(self):
        try:
            return self.samples("ledgergate_build_info") >= 1
        except OSError:
            return False
