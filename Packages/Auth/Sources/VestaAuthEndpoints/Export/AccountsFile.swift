import VestaBytes

/// Finds the accounts in a file of an export, as the file is read: the objects in the array `users`; pure.
///
/// The file is `{"kind":"…","users":[{…},{…}]}`, with spaces and line ends where a person has edited it.
struct AccountsFile {
  /// The most bytes of an account.
  private let limit: Int
  private var account: [UInt8] = []
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// The member of the outermost object that is being read.
  private var name: [UInt8] = []
  private var isName = false
  private var hasName = false

  init(limit: Int = 1 << 20) { self.limit = limit }

  /// Takes bytes of the file.
  ///
  /// - Returns: The accounts that end in these bytes, each as the text of its object.
  /// - Throws: `BytesError` for an account that is too long, and for brackets that do not match.
  mutating func accounts(in bytes: [UInt8]) throws(BytesError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    for byte in bytes {
      if isInUsers, depth > 2 || byte == UInt8(ascii: "{") {
        account.append(byte)
        guard account.count <= limit else {
          throw BytesError(.limitExceeded, "An account has more than \(limit) bytes.")
        }
      }
      try take(byte)
      if isInUsers, depth == 2, !account.isEmpty {
        found.append(account)
        account = []
      }
    }
    return found
  }

  /// Checks that the file may end here.
  func finish() throws(BytesError) {
    guard depth == 0, !isInString else { throw BytesError(.malformed, "The file ends in the middle of an object.") }
  }

  private var isInUsers: Bool { hasName && name.elementsEqual("users".utf8) }

  private mutating func take(_ byte: UInt8) throws(BytesError) {
    if isInString { return takeInString(byte) }
    switch byte {
    case UInt8(ascii: "\""):
      isInString = true
      isName = depth == 1 && !hasName
      if isName { name = [] }
    case UInt8(ascii: ":") where depth == 1: hasName = true
    case UInt8(ascii: ",") where depth == 1: hasName = false
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      depth -= 1
      guard depth >= 0 else { throw BytesError(.malformed, "A bracket is closed that was not opened.") }
    default: break
    }
  }

  private mutating func takeInString(_ byte: UInt8) {
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
      isName = false
      return
    }
    if isName { name.append(byte) }
  }
}

/// An account of an export as the import reads it: passwords of the suite in clear text, hashes of Vesta's own as they
/// are.
enum ExportedAccount {
  private static let clearText = "fakeHash:salt="

  /// The account with a member that the import understands in place of the suite's form of a password.
  ///
  /// The suite writes `fakeHash:salt=SALT:password=PASSWORD`.
  static func imported(_ account: JSONObject) -> JSONObject {
    guard let hash = account["passwordHash"]?.string, hash.hasPrefix(clearText),
      let mark = hash.firstRange(of: ":password=")
    else { return account }
    var account = account
    account["rawPassword"] = .string(String(hash[mark.upperBound...]))
    account["passwordHash"] = nil
    account["salt"] = nil
    return account
  }
}
