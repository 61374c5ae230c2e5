// What depends on the platform in this module stands here.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The path of a file URL.
func path(of url: URL) -> String { url.path }
