"""Milvus itself, from the wheel `milvus`, in a network that has nothing but a loopback.

Its processes listen on every interface, whatever the settings say, so it refuses to start where another interface is up.
What the wheel unpacks, half a gigabyte, is kept for the next run.

    milvus_standalone.py UNPACKED DATA
"""

import fcntl
import os
import socket
import struct
import sys

import milvus

# linux/sockios.h and linux/if.h
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
METRICS_PORT = 9091


def flags_of(interface: str, probe: socket.socket) -> int:
    return struct.unpack("16sh", fcntl.ioctl(probe, SIOCGIFFLAGS, struct.pack("16sh", interface.encode(), 0)))[1]


def main(unpacked: str, data: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        others = [name for _, name in socket.if_nameindex() if name != "lo" and flags_of(name, probe) & IFF_UP]
        if others:
            sys.exit(f"Milvus would listen on {', '.join(others)} too")
        fcntl.ioctl(probe, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))
    milvus._initialize_data_files(unpacked)
    server = milvus.default_server
    server.set_base_dir(data)
    server.config.set("authorization_enabled", True)
    # Rows that are not sealed yet are compared one by one; an index over them would be approximate.
    server.config.set("queryNode.segcore.growing.enableIndex", "false")
    server.config.set("common.gracefulStopTimeout", "1")
    server.config.set("log.level", "warn")
    server.config.resolve()
    os.chdir(data)
    folder = os.path.join(unpacked, "bin")
    os.environ.update(DEPLOY_MODE="STANDALONE", METRICS_PORT=str(METRICS_PORT), MILVUS_RUN_DIR=os.path.join(data, "run"), LD_LIBRARY_PATH=folder)
    os.execv(os.path.join(folder, "milvus"), ["milvus", "run", "standalone"])


if __name__ == "__main__":
    main(*map(os.path.abspath, sys.argv[1:]))
