import VestaBytes

/// The paths of triggers: `/functions/projects/P/triggers/KEY`, and `/functions/projects/P/trigger_multicast`; pure.
struct TriggerPath: Equatable {
  let project: String
  /// The function; `nil` for the host as a whole.
  let key: String?

  private static let prefix = "/functions/projects/"

  init(project: String, key: String?) { (self.project, self.key) = (project, key) }

  /// `nil` for another path.
  init?(target: String) {
    let path = target.prefix { $0 != "?" }
    guard path.utf8.starts(with: Self.prefix.utf8) else { return nil }
    let parts = path.dropFirst(Self.prefix.count).split(
      separator: "/", maxSplits: 2, omittingEmptySubsequences: false
    ).compactMap { try? PercentEncoding.decode($0) }
    guard let project = parts.first, !project.isEmpty else { return nil }
    switch parts.dropFirst() {
    case ["trigger_multicast"], ["triggers"]: self.init(project: project, key: nil)
    case let rest where rest.first == "triggers" && rest.count == 2: self.init(project: project, key: rest.last)
    default: return nil
    }
  }

  var target: String {
    let project = Self.encoded(project)
    guard let key else { return "\(Self.prefix)\(project)/trigger_multicast" }
    return "\(Self.prefix)\(project)/triggers/\(Self.encoded(key))"
  }

  /// A text with everything percent-encoded but letters, digits, `-._~` and some more characters.
  static func encoded(_ text: String, keeping more: String = "") -> String {
    PercentEncoding(leaving: "-._~" + more).encode(text)
  }
}
