// What depends on the platform in this module stands here: the names of sessions.
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A name that no other session has.
func randomSession() -> String { UUID().uuidString }
