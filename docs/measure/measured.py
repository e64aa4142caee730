"""What the measurements of verdicts share."""
import json
import os
import subprocess
import sys


def told(program, arguments):
    """What iotax says as JSON."""
    done = subprocess.run([program, *arguments, "--format", "json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if not done.stdout:
        sys.exit(f"{program} {arguments}: {done.stderr}")
    return json.loads(done.stdout)


def random_file(name):
    """1 GiB that no layer below can compress, made once."""
    if os.path.exists(name):
        return
    with open(name, "wb") as image:
        for _ in range(1024):
            image.write(os.urandom(1 << 20))
        os.fsync(image.fileno())
