"""The certificates of tests/support/make_certificates in a folder of their own, as a context manager."""

import pathlib
import shutil
import subprocess
import tempfile

MAKER = pathlib.Path(__file__).with_name("make_certificates")


class Certificates:
    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lgcr-", dir="/tmp"))
        try:
            subprocess.run([str(MAKER), str(self.folder)], check=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def file(self, name):
        return self.folder / name

    def pair(self, name):
        """The keys `cert` and `key` of a `tls:` section."""
        return {"cert": str(self.file(f"{name}.crt")), "key": str(self.file(f"{name}.key"))}
