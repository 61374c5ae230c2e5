// The code of this module that depends on the platform: the clock.
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The system's time in milliseconds since 1970.
func systemMilliseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
