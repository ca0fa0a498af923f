// ControlSocket.swift [U]: a Unix socket at a path, on which a mount can be talked to by others
// than the process that made it.
// Invariants: at most `peersMax` peers; a peer that sends what is no message, or does not read its
// answers for a second, is let go; no peer can make the daemon wait for it any other way; both ends
// are the same user's, or root's.

import CPrivileges
import CSystem
import Glibc
import LabCore

/// Sockets at paths.
enum PathSocket {
  /// Path bytes that fit in an address before its terminating NUL.
  static let pathBytesMax = 107

  /// A listening socket, accessible to its owner only; replaces a socket at the path.
  static func listen(at path: String) throws(LabError) -> Int32 {
    let socket = try make(path)
    guard PathCalls.removesSocket(path) else {
      Glibc.close(socket)
      throw .usage("control socket \(path): something else is there; choose another path")
    }
    guard unsafe withAddress(path, { unsafe bind(socket, $0, $1) }) == 0,
      unsafe chmod(path, 0o600) == 0,
      Glibc.listen(socket, 16) == 0
    else {
      let error = lastError()
      Glibc.close(socket)
      throw .usage("cannot listen at the control socket \(path): \(error)")
    }
    return socket
  }

  /// A connection to a listening socket.
  static func connect(to path: String) throws(LabError) -> Int32 {
    let socket = try make(path)
    guard unsafe withAddress(path, { unsafe Glibc.connect(socket, $0, $1) }) == 0 else {
      let error = lastError()
      Glibc.close(socket)
      throw .lab("cannot reach the control socket \(path): \(error); is the mount still served?")
    }
    guard geteuid() == 0 || isTrusted(socket) else {
      Glibc.close(socket)
      throw .lab("the control socket \(path) is another user's; it is not asked anything")
    }
    return socket
  }

  /// True when the other end is this user or root: the name of a socket can be anybody's.
  private static func isTrusted(_ socket: Int32) -> Bool {
    var user: uid_t = 0
    guard unsafe cprivileges_peer(socket, &user) == 0 else { return false }
    return user == geteuid() || user == 0
  }

  /// The next peer, or nil when none waits.
  static func accept(_ listener: Int32) -> Int32? {
    let peer = Glibc.accept(listener, nil, nil)
    guard peer >= 0 else { return nil }
    guard isTrusted(peer) else {
      Glibc.close(peer)
      return nil
    }
    csystem_set_close_on_exec(peer, 1)
    var second = timeval(tv_sec: 1, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    unsafe _ = setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &second, size)
    return peer
  }

  private static func make(_ path: String) throws(LabError) -> Int32 {
    guard !path.isEmpty, path.utf8.count <= pathBytesMax else {
      throw .usage(
        "control socket: path_bytes=\(path.utf8.count) is not in 1...\(pathBytesMax): \(path)")
    }
    let socket = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw .lab("cannot make a socket: \(lastError())") }
    return socket
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      unsafe bytes.copyBytes(from: path.utf8)
    }
    // Safety: the address is valid during the call; sockaddr_un starts like every sockaddr.
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe body(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// A process connected to the daemon through the socket.
struct ControlPeer {
  let descriptor: Int32
  var frames = ControlFrames()
}
