import Foundation
import VestaConcurrency

/// Finds ports for programs that listen at a number that they are given, and for servers that listen again at theirs.
///
/// The numbers are below the ones that the system assigns to sockets by itself, and none is assigned twice: no other
/// test takes one in between.
public enum FreePort {
  private static let given = Locked<Set<Int>>([])

  /// The number; `nil` where all that were tried are in use.
  public static func find() -> Int? {
    for _ in 0..<100 {
      let port = Int.random(in: 20_000..<32_000)
      if given.withLock({ $0.insert(port).inserted }), isFree(port) { return port }
    }
    return nil
  }

  private static func isFree(_ port: Int) -> Bool {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(file) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(file, $0, size) == 0 }
    }
  }
}
