import VestaServiceInterop
import VestaStorageBackend

/// The rules for names of buckets and objects; pure.
enum ObjectNameRules {
  /// Checks the name of an object.
  ///
  /// - Throws: `invalidArgument` with what is wrong.
  static func check(_ object: ObjectName) throws(StorageServiceError) {
    try check(bucket: object.bucket)
    let bytes = object.name.utf8
    guard !bytes.isEmpty else { throw invalid("The name of the object is empty.") }
    guard bytes.count <= 1024 else {
      throw invalid("The name of the object has \(bytes.count) bytes; at most 1024 are allowed.")
    }
    guard !bytes.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) else {
      throw invalid("The name of the object has a line break or a zero character. Leave it out.")
    }
    guard object.name != ".", object.name != ".." else { throw invalid("An object cannot be called \(object.name).") }
    guard !object.name.hasPrefix(".well-known/acme-challenge/") else {
      throw invalid("The name of an object cannot begin with .well-known/acme-challenge/.")
    }
  }

  /// Checks the name of a bucket: 3 to 222 lower-case letters, digits, `-`, `_` and `.`.
  ///
  /// - Throws: `invalidArgument` with what is wrong.
  static func check(bucket: String) throws(StorageServiceError) {
    let bytes = bucket.utf8
    let isPlain = bytes.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
    guard (3...222).contains(bytes.count), isPlain, bytes.first != UInt8(ascii: "."), bytes.last != UInt8(ascii: ".")
    else {
      throw invalid(
        "The bucket \"\(bucket)\" cannot be: use 3 to 222 lower-case letters, digits, \"-\", \"_\" and \".\".")
    }
  }

  private static func invalid(_ message: String) -> StorageServiceError {
    StorageServiceError(.invalidArgument, message)
  }
}
