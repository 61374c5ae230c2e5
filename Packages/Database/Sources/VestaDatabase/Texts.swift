/// Firebase's sentences about what a caller has got wrong.
enum Texts {
  static func path(_ function: String) -> String {
    "(\(function)) Must be a non-empty string and not contain '.' '#' '$' '[' or ']'"
  }

  static func childKey(_ function: String) -> String {
    "(\(function)) Must be a non-empty string and not contain '/' '.' '#' '$' '[' or ']'"
  }

  static func info(_ function: String, _ path: String) -> String {
    "(\(function)) failed to path \(path): Can't modify data under .info"
  }

  static func updateKey(_ function: String) -> String {
    "(\(function)) Invalid key in object. Keys must be non-empty and cannot contain '.' '#' '$' '[' or ']'"
  }
}
