import VestaBytes

/// The target of a request for a function: the function, and the rest of the path.
public struct FunctionRequestPath: Sendable, Hashable {
  /// The function.
  public var function: CallablePath

  /// The rest of the path and the query, percent-encoded; it begins with a slash or a question mark, or is empty.
  public var rest: String

  /// Reads the target of a request.
  ///
  /// | authority | target | function | rest |
  /// |---|---|---|---|
  /// | any | `/demo/us-central1/greet/a?b` | `greet` of `demo` | `/a?b` |
  /// | `us-central1-demo.cloudfunctions.net` | `/greet/a?b` | `greet` of `demo` | `/a?b` |
  ///
  /// - Parameters:
  ///   - target: The path and the query.
  ///   - authority: The host, and the port unless it is the scheme's own.
  public init?(target: String, authority: String) {
    let path = target.prefix { $0 != "?" }
    let place = Self.place(authority: authority)
    let parts = path.parts(at: "/", maxSplits: place == nil ? 4 : 2)
    guard parts.count >= (place == nil ? 4 : 2), parts[0].isEmpty else { return nil }
    let count = place == nil ? 3 : 1
    let names = parts[1...count].compactMap { try? PercentEncoding.decode($0) }
    guard names.count == count, names.allSatisfy({ !$0.isEmpty && !$0.hasByte("/") }), let name = names.last else {
      return nil
    }
    function = CallablePath(
      project: place?.project ?? names[0], region: place?.region ?? names[1], name: name)
    let used = parts[1...count].reduce(0) { $0 + 1 + $1.utf8.count }
    rest = String(target.utf8.dropFirst(used)) ?? ""
  }

  /// Whether a text has the form of a region, such as `us-central1`.
  public static func isRegion(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2, let last = parts[1].last, last &- 48 < 10, parts[1].count > 1 else { return false }
    return parts[0].allSatisfy { $0 &- 97 < 26 } && !parts[0].isEmpty
      && parts[1].allSatisfy { $0 &- 97 < 26 || $0 &- 48 < 10 }
  }

  /// The region and the project of a host such as `us-central1-demo.cloudfunctions.net`.
  private static func place(authority: String) -> (region: String, project: String)? {
    let host = authority.prefix { $0 != ":" }.lowercased()
    guard host.hasSuffix(domain) else { return nil }
    let parts = host.dropLast(domain.count).split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[2].isEmpty, isRegion("\(parts[0])-\(parts[1])") else { return nil }
    return ("\(parts[0])-\(parts[1])", String(parts[2]))
  }

  private static let domain = ".cloudfunctions.net"
}
