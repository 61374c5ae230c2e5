// The code of this module that depends on the platform: the names of sessions.
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A name that no other session has.
func randomSession() -> String { UUID().uuidString }
