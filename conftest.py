"""Every test of the project, wherever it stands, runs under the watch of sockets."""

pytest_plugins = ["tests.trust.peers"]
