"""A Ray cluster of several nodes on this machine, as a program: prints its addresses, and ends with its input.

`python ray_cluster.py FOLDER NODES [PATH]`: NODES nodes of one processor each beside a head that has none; the last one
finds what it imports in PATH first. Ray's `Cluster` is not used in the process of the tests, so that nothing of Ray's
is left there.
"""

import json
import os
import socket
import sys

os.setsid()
os.environ |= {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # so that it listens to the loopback only
}


def main(folder, nodes, path=None):
    import ray._private.utils
    from ray.cluster_utils import Cluster

    ray._private.utils.write_ray_address = lambda *_: None  # in /tmp/ray, for whoever asks for any cluster
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serves = "grpc" in json.loads(os.environ.get("SERVES", "[]"))
    common = {"object_store_memory": 80 * 1024 * 1024, "temp_dir": folder}
    cluster = Cluster(
        initialize_head=True,
        head_node_args=common
        | {"num_cpus": 0, "include_dashboard": False}
        | ({"ray_client_server_port": port} if serves else {}),
    )
    for index in range(nodes):
        other = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, (path, os.environ.get("PYTHONPATH"))))}}
        cluster.add_node(num_cpus=1, **common, **(other if path and index == nodes - 1 else {}))
    print(json.dumps({"address": cluster.address, "client": f"ray://127.0.0.1:{port}"}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
