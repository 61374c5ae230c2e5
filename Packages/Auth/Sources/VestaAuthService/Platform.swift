// The code of this module that depends on the platform.

import Foundation

/// The string in its composed form (NFC), which Foundation alone knows how to make.
func composed(_ text: String) -> String {
  text.utf8.allSatisfy { $0 < 0x80 } ? text : text.precomposedStringWithCanonicalMapping
}

/// The number of cores.
enum Platform {
  static var processors: Int { ProcessInfo.processInfo.activeProcessorCount }
}
