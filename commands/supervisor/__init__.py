"""The process supervisor of `keepline run`: starts the children, restarts what dies, stops all in order."""

from commands.supervisor.child import Child
from commands.supervisor.loop import Supervisor
from commands.supervisor.stop_request import StopRequest

__all__ = ["Child", "StopRequest", "Supervisor"]
