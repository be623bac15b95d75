"""Making a standby the primary without losing an acknowledgement (ADR 0011).

The one thing to know: nobody tells the old primary to stop, because it may be out of reach and believe itself well. It can acknowledge
nothing without a standby, so the fence is to take away its standbys, both of them; and only both together know everything that
was acknowledged. Hence the refusal when one cannot be asked.
"""

from config.failover.decision import CannotFailOver, Standing, choose
from config.failover.member import Member
from config.failover.steps import fail_over

__all__ = ["CannotFailOver", "Member", "Standing", "choose", "fail_over"]
