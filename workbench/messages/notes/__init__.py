"""Notes, recorded in a session beside its points.

A note's topic is the code of its message, its data are the parameters (`documents.Note`).
"""

from workbench.messages.notes.clients import (
    Ceiling,
    ClientBack,
    ClientLimitUnknown,
    ClientLost,
    ClientNotBack,
)
from workbench.messages.notes.machines import (
    Confinement,
    Exposed,
    Link,
    LinkUnchecked,
    SamplerLost,
    SamplerRestarted,
    SharedCores,
    SharedMachine,
    SlowLink,
    TargetGone,
)
from workbench.messages.notes.notice import Notice, Point, Severity
from workbench.messages.notes.profiles import NotProfiled, Profile
from workbench.messages.notes.progress import (
    Again,
    CoolDown,
    GaveUp,
    Paused,
    Rates,
    Resumed,
    Settle,
    Skipped,
    WrittenAgain,
)
from workbench.messages.notes.readers import Faulty, NotJudged, WindowsMissing
from workbench.messages.notes.search import Peak
from workbench.messages.notes.servers import (
    Backlog,
    CpuTimeLost,
    Database,
    Deploy,
    Died,
    Gate,
    Memory,
    Resources,
    Unequal,
    WarmUp,
)
from workbench.messages.notes.tuning import (
    CrashRestored,
    NotRestored,
    Restored,
    Setting,
    StillTuned,
    Tuned,
    Untuned,
)

__all__ = [
    "Again",
    "Backlog",
    "Ceiling",
    "ClientBack",
    "ClientLimitUnknown",
    "ClientLost",
    "ClientNotBack",
    "Confinement",
    "CoolDown",
    "CpuTimeLost",
    "CrashRestored",
    "Database",
    "Deploy",
    "Died",
    "Exposed",
    "Faulty",
    "Gate",
    "GaveUp",
    "Link",
    "LinkUnchecked",
    "Memory",
    "NotJudged",
    "NotProfiled",
    "NotRestored",
    "Notice",
    "Paused",
    "Peak",
    "Point",
    "Profile",
    "Rates",
    "Resources",
    "Restored",
    "Resumed",
    "SamplerLost",
    "SamplerRestarted",
    "Setting",
    "Settle",
    "Severity",
    "SharedCores",
    "SharedMachine",
    "Skipped",
    "SlowLink",
    "StillTuned",
    "TargetGone",
    "Tuned",
    "Unequal",
    "Untuned",
    "WarmUp",
    "WindowsMissing",
    "WrittenAgain",
]
