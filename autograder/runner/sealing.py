"""Close a session off, by tier: everything that is given up before student code runs.

The order matters. Mounts need the rights that are then dropped; the filter of system calls comes
last, because it forbids most of what stands before it.
"""

from __future__ import annotations

import os
import resource
import signal
import tempfile
from dataclasses import dataclass

from autograder.runner import bounds, identity, landlock, namespaces, seccomp, syscalls

WORK, SEALED = 3, 4


@dataclass(frozen=True)
class Plan:
    """What is known before the file system is closed, and needed afterwards.

    user          the number that sessions run under; None keeps ours
    capabilities  kept nevertheless: to read an interpreter that only root may read
    used, tasks   address space of the zygote in bytes; tasks that the user already has
    """

    tier: str
    scratch: str
    user: int | None
    capabilities: int
    used: int
    tasks: int


def plan(tier: str, scratch: str, launcher: int) -> Plan:
    """Look at the machine while it can still be seen. `launcher` makes the private user unique."""
    user = identity.private_user(launcher) if tier != "none" else None
    alone = user is not None or tier == "namespaces"
    return Plan(
        tier=tier,
        scratch=scratch,
        user=user,
        capabilities=0 if user is None or identity.open_to_all() else identity.READ_ALL,
        used=bounds.address_space(),
        tasks=0 if alone else bounds.tasks_of(os.geteuid()),
    )


def close_file_system(plan: Plan) -> None:
    """Close the zygote's file system, for it and all its sessions. Raises OSError."""
    if plan.tier == "namespaces":
        namespaces.close_file_system(plan.scratch)
    if plan.tier == "landlock":
        os.chmod(plan.scratch, 0o711)
        landlock.close_file_system(plan.scratch)


def seal(plan: Plan, folder: str, parent: int, work: int, sealed: int) -> None:
    """Close this process, a fresh fork of the zygote `parent`, off. Raises OSError.

    folder  the session's own, in the scratch folder; unused where /tmp is private
    work    becomes descriptor WORK, and `sealed` becomes SEALED; no other stays open
    """
    os.setsid()
    _move_to(namespaces.private_tmp() if plan.tier == "namespaces" else folder)
    bounds.set_limits(plan.used, plan.tasks)
    if plan.tier != "none":
        _drop_rights(plan)
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 0)
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)  # after the user: it resets this
    if os.getppid() != parent:
        os._exit(1)  # the zygote ended before it could take us with it
    _keep_only(work, sealed)
    if plan.tier == "landlock":
        landlock.close_all_but(folder)
    if plan.tier != "none":
        seccomp.install(os.getpid(), guard_modes=plan.tier == "landlock")


def _move_to(folder: str) -> None:
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder)
    tempfile.tempdir = None  # it remembers the former one


def _drop_rights(plan: Plan) -> None:
    if plan.user is not None:
        syscalls.drop_bounding_set()
        syscalls.prctl(syscalls.PR_SET_KEEPCAPS, 1)
        os.setgroups([])
        os.setresgid(plan.user, plan.user, plan.user)
        os.setresuid(plan.user, plan.user, plan.user)
    syscalls.prctl(syscalls.PR_CAP_AMBIENT, syscalls.PR_CAP_AMBIENT_CLEAR_ALL)
    syscalls.keep_capabilities(plan.capabilities)
    syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)


def _keep_only(work: int, sealed: int) -> None:
    null = os.open("/dev/null", os.O_RDWR)
    high = [os.dup(one) for one in (null, null, null, work, sealed)]  # clear of what they replace
    for target, source in enumerate(high):
        os.dup2(source, target, inheritable=True)
    os.closerange(SEALED + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1] + 4096)
