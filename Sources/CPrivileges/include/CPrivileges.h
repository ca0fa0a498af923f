// CPrivileges.h: what a process of the lab may do: mount, have a user namespace of its own, hand the right to mount to a
// child; and who is at the other end of a socket. Apart from CSystem, which the databases link: they need none of it.
#ifndef FAULTLINE_CPRIVILEGES_H
#define FAULTLINE_CPRIVILEGES_H

#include <sys/types.h>

/// Whether mount(2) and umount2(2) are allowed in this mount namespace, by capabilities and security modules. Asks the
/// kernel to unmount what is no mount, so nothing is changed.
int cprivileges_may_mount(void);

/// Whether a program that is set-uid root would get CAP_SYS_ADMIN: neither PR_SET_NO_NEW_PRIVS nor the bounding set is in
/// its way.
int cprivileges_may_gain_mount(void);

/// Moves this process into a user and a mount namespace of its own, where it has the numbers of user and group that it
/// had (user_namespaces(7)), and of all capabilities CAP_SYS_ADMIN only; as user 0 all of them. The process must have one
/// thread. Returns 0, or -1 with errno; after a failure the process is of no use.
int cprivileges_enter_namespace(void);

/// Whether cprivileges_enter_namespace would succeed, tried in a child: 0, or the errno.
int cprivileges_try_namespace(void);

/// Whether programs that the calling thread starts keep its CAP_SYS_ADMIN (ambient capabilities, capabilities(7)).
/// Returns 0; or -1 when the thread has none, which changes nothing.
int cprivileges_hand_on_mount(int on);

/// The user at the other end of a Unix socket: 0, or -1 with errno.
int cprivileges_peer(int socket, uid_t *user);

#endif
