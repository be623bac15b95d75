#!/bin/sh
# The tests of the relay run a real Redis and a real RabbitMQ, one of the queue's a wrong clock, one of the gate's a real PgBouncer. Install them
# where we may (Debian, as root), else say how.
set -eu

PATH=$PATH:/usr/sbin:/usr/local/sbin
missing=
command -v redis-server >/dev/null 2>&1 || missing=redis-server
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || command -v rabbitmq-server >/dev/null 2>&1 || missing="$missing rabbitmq-server"
command -v pgbouncer >/dev/null 2>&1 || missing="$missing pgbouncer"
command -v faketime >/dev/null 2>&1 || missing="$missing faketime"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "handover: installing for the tests of relay and queue (once):" $missing
    export DEBIAN_FRONTEND=noninteractive
    # The tests start servers of their own: the packages must not start theirs.
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
        trap 'rm -f $policy' EXIT
    fi
    # shellcheck disable=SC2086 - a list of words
    apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing >/dev/null && exit 0
fi
echo "handover: the tests of the relay need a Redis and a RabbitMQ server, which they start themselves. Install them (Debian: apt-get" \
    "install redis-server rabbitmq-server faketime pgbouncer; Fedora: dnf install redis rabbitmq-server libfaketime pgbouncer; macOS:" \
    "brew install redis rabbitmq libfaketime pgbouncer)." >&2
exit 1
