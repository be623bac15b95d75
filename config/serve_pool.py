"""How a pool behind the gate runs: like the web server in all but its number, in processes of its own, on the socket that `--bind` names."""

from config.environment import read_settings
from config.serve import *  # noqa: F403 - gunicorn takes what this module holds

settings = read_settings()
workers = settings.POOL_CONCURRENCY
worker_class = "config.serving.workers.PoolWorker"
umask = 0o077  # nobody else may connect to the socket
forwarded_allow_ips = ",".join(settings.FORWARDED_ALLOW_IPS)
