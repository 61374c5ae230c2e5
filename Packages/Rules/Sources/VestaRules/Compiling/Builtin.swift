/// The functions that are not declared in a ruleset.
enum Builtin: String, Sendable, CaseIterable {
  case int, float, string, path, debug
  case get, exists, getAfter, existsAfter
  case firestoreGet = "firestore.get"
  case firestoreExists = "firestore.exists"
  case mathAbs = "math.abs"
  case mathCeil = "math.ceil"
  case mathFloor = "math.floor"
  case mathRound = "math.round"
  case mathSqrt = "math.sqrt"
  case mathPow = "math.pow"
  case mathIsNaN = "math.isNaN"
  case timestampDate = "timestamp.date"
  case timestampValue = "timestamp.value"
  case durationValue = "duration.value"
  case durationTime = "duration.time"
  case durationAbs = "duration.abs"
  case latlngValue = "latlng.value"
  case hashingCRC32 = "hashing.crc32"
  case hashingCRC32C = "hashing.crc32c"
  case hashingMD5 = "hashing.md5"
  case hashingSHA256 = "hashing.sha256"

  /// The names that only stand in front of a function's name.
  static let packages: Set<String> = ["duration", "hashing", "latlng", "math", "timestamp"]

  /// The number of arguments.
  var arity: Int {
    switch self {
    case .durationTime: 4
    case .timestampDate: 3
    case .mathPow, .durationValue, .latlngValue: 2
    default: 1
    }
  }

  /// The overloads, in the order of production's messages, without the name.
  var overloads: [[RulesValue.Kind]] {
    switch self {
    case .int: [[.int], [.float], [.string]]
    case .float: [[.int], [.float], [.string]]
    case .string: [[.int], [.float], [.null], [.string], [.bool], [.path]]
    case .path: [[.string]]
    case .debug: RulesValue.Kind.allCases.map { [$0] }
    case .get, .exists, .getAfter, .existsAfter, .firestoreGet, .firestoreExists: [[.path]]
    case .mathAbs, .mathCeil, .mathFloor, .mathRound, .mathSqrt, .mathIsNaN: [[.int], [.float]]
    case .mathPow: [[.int, .int], [.int, .float], [.float, .int], [.float, .float]]
    case .timestampDate: [[.int, .int, .int]]
    case .timestampValue: [[.int]]
    case .durationValue: [[.int, .string]]
    case .durationTime: [[.int, .int, .int, .int]]
    case .durationAbs: [[.duration]]
    case .latlngValue: [[.float, .float], [.int, .int], [.int, .float], [.float, .int]]
    case .hashingCRC32, .hashingCRC32C, .hashingMD5, .hashingSHA256: [[.string], [.bytes]]
    }
  }

  /// The lookups, which a service offers under other names.
  var isLookup: Bool {
    switch self {
    case .get, .exists, .getAfter, .existsAfter, .firestoreGet, .firestoreExists: true
    default: false
    }
  }

  func isAvailable(in service: RulesService) -> Bool {
    switch self {
    case .get, .exists, .getAfter, .existsAfter: service == .firestore
    case .firestoreGet, .firestoreExists: service == .storage
    default: true
    }
  }
}
