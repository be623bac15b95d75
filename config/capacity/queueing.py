"""Waiting in line, by formula: arrivals at random, service times at random, so many servers (M/M/c in Kendall's notation).

Random service is the cautious choice: ours vary less, and then waits are shorter (Kingman's formula: half as long where
service takes always the same). Rates are a second, times are seconds.

References: A. K. Erlang, *Solution of some problems in the theory of probabilities of significance in automatic telephone
exchanges* (1917) for both formulas; J. D. C. Little, *A proof for the queuing formula L = λW* (1961); L. Kleinrock, *Queueing
Systems* I (1975), section 3.5, for the waiting time.
"""

import math


def erlang_b(load: float, servers: int) -> float:
    """Return the share of arrivals that find all servers busy where nobody waits. `load` is in erlangs: arrivals times service time.

    By the recursion B(0) = 1, B(c) = aB(c-1) / (c + aB(c-1)), which neither overflows nor cancels.
    """
    blocked = 1.0
    for number in range(1, servers + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked


def erlang_c(load: float, servers: int) -> float:
    """Return the share of arrivals that have to wait: C = cB / (c - a(1 - B)); 1 where the servers cannot keep up."""
    if load >= servers:
        return 1.0
    blocked = erlang_b(load, servers)
    return servers * blocked / (servers - load * (1 - blocked))


def mean_wait(arrivals: float, service: float, servers: int) -> float:
    """Return how long an arrival waits before it is served, on average; `service` is one server's rate."""
    spare = servers * service - arrivals
    return math.inf if spare <= 0 else erlang_c(arrivals / service, servers) / spare


def wait_exceeded_by(share: float, arrivals: float, service: float, servers: int) -> float:
    """Return the wait that this share of the arrivals exceeds (0.01 for p99), from P(W > t) = C exp(-(cμ - λ)t)."""
    spare = servers * service - arrivals
    if spare <= 0:
        return math.inf
    return max(0.0, math.log(erlang_c(arrivals / service, servers) / share) / spare)


def in_system(arrivals: float, seconds: float) -> float:
    """Return how many are inside at a time when each stays so long: Little's law, L = λW, whatever the distributions."""
    return arrivals * seconds
