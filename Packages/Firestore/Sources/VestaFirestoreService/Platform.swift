// What depends on the platform in this module stands here.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The system's clock: microseconds since 1970.
@Sendable func systemMicroseconds() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

/// The path of a file URL.
func path(of url: URL) -> String { url.path }
