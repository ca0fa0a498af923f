// SyncCalls.h: what a child does between fork and exec so that its syncs can be seen, and the other side of it.
#ifndef FAULTLINE_SYNC_CALLS_H
#define FAULTLINE_SYNC_CALLS_H

/// Has sync(2) and syncfs(2) of this process and its children wait for whoever has the descriptor that is sent through a
/// socket; where the system does not allow that, sends the error instead. Async-signal-safe.
void csystem_catch_syncs(int socket);
/// The descriptor that was sent through a socket, or the error below zero.
int csystem_receive_descriptor(int socket);

#endif
