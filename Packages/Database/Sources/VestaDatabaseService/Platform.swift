// What depends on the platform in this module stands here: the clock and the names of sessions.
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The system's time in milliseconds since 1970.
func systemMilliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

/// A name that no other session has.
func randomSession() -> String { UUID().uuidString }
