import VestaConcurrency
import VestaCore
import VestaRules
import VestaRulesGuards
import VestaServiceInterop

/// The rules of all projects of a server: from its files, or set by a tool for all projects.
///
/// Files are read again while the server runs. A file that is absent or does not compile then leaves the rules in force
/// as they are, and is reported with its place; a project that is opened later has the rules in force too.
///
/// Worked example: `firestore.rules` compiles at the start, and all projects have its rules. A syntax error is saved: a
/// log message names line and column, and decisions do not change. The next save compiles: all open projects have the
/// new rules, and projects that are opened later as well.
final class ServerRules: Sendable {
  struct State {
    /// The texts in force; a product without one has the rules of a server without files.
    var texts: [Place: String] = [:]
    /// The files as they were seen last.
    var seen: [Place: Content] = [:]
    /// Whether buckets without separate rules have none, as a tool has set it.
    var deniesOtherBuckets = false
  }

  /// The subject of rules: a product, or one of its databases or buckets.
  struct Place: Sendable, Hashable {
    let product: RuledProduct
    /// The database or the bucket; `nil` for all that have no separate rules.
    var name: String?
  }

  /// The content of a file.
  enum Content: Sendable, Hashable {
    case text(String)
    /// Nothing that can be read, with the cause.
    case unreadable(String)

    init(of path: String) {
      do throws(RulesetError) {
        self = .text(try RulesSource.file(path).text())
      } catch {
        self = .unreadable(ServerRules.description(of: error, in: path))
      }
    }
  }

  private let files: [Place: String]
  private let isDevelopment: Bool
  let state = Locked(State())
  private let openApps: Locked<@Sendable () -> [VestaApp]> = Locked({ [] })

  /// No rules of files until ``readFiles()``.
  init(_ settings: ServerSettings) {
    var files: [Place: String] = [:]
    for product in RuledProduct.allCases {
      files[Place(product: product)] = settings.rules[product.rawValue]
      for (name, path) in settings.namedRules[product.rawValue] ?? [:] {
        files[Place(product: product, name: name)] = path
      }
    }
    self.files = files
    isDevelopment = settings.isDevelopment
  }

  /// Sets where the apps are found whose rules are replaced.
  func replacesRules(of apps: @escaping @Sendable () -> [VestaApp]) { openApps.withLock { $0 = apps } }

  /// The rules of a project that is opened now.
  var sources: RulesSources {
    let (texts, deniesOtherBuckets) = state.withLock { ($0.texts, $0.deniesOtherBuckets) }
    var sources = isDevelopment ? Self.open : RulesSources()
    if deniesOtherBuckets { sources.storage = nil }
    for (place, text) in texts {
      switch (place.product, place.name) {
      case (let product, let name?): sources.named[product, default: [:]][name] = .text(text)
      case (.firestore, nil): sources.firestore = .text(text)
      case (.storage, nil): sources.storage = .text(text)
      case (.database, nil): sources.database = .text(text)
      }
    }
    return sources
  }

  // MARK: Files

  /// Reads all files.
  ///
  /// - Throws: ``ServerError`` with all issues of a file that cannot be used: a server starts with all its rules.
  func readFiles() throws(ServerError) {
    for (place, path) in files.sorted(by: { $0.value < $1.value }) {
      let text: String
      do throws(RulesetError) {
        text = try RulesSource.file(path).text()
        _ = try place.product.compile(text)
      } catch {
        throw ServerError(Self.description(of: error, in: path))
      }
      state.withLock { state in
        state.texts[place] = text
        state.seen[place] = .text(text)
      }
    }
  }

  /// Reads all files again, and puts the rules of each changed file in force.
  ///
  /// - Returns: The products whose rules were replaced.
  @discardableResult
  @concurrent func readChangedFiles() async -> [RuledProduct] {
    var replaced: [RuledProduct] = []
    for (place, path) in files.sorted(by: { $0.value < $1.value }) {
      // Read anew each time: the times of a file system are too coarse to see every change.
      let found = Content(of: path)
      guard state.withLock({ $0.seen.updateValue(found, forKey: place) }) != found else { continue }
      switch found {
      case .unreadable(let error): report(error)
      case .text(let text):
        do {
          _ = try place.product.compile(text)
          try await replace(text, at: place)
          replaced.append(place.product)
          log.notice("I-SRV000003", "The rules of \(path) are in force.")
        } catch let error as RulesetError {
          report(Self.description(of: error, in: path))
        } catch {
          report("\(path): \(error)")
        }
      }
    }
    return replaced
  }

  private func report(_ error: String) {
    log.error("I-SRV000004", "\(error)\nThe rules in force stay as they are.")
  }

  /// The issues of a file, a line each, as compilers and editors write them: `path:line:column: text`.
  static func description(of error: RulesetError, in path: String) -> String {
    error.issues.map { issue in
      let place = issue.position.map { ":\($0.line):\($0.column)" } ?? ""
      return "\(path)\(place): \(issue.severity.rawValue.lowercased()): \(issue.message)"
    }.joined(separator: "\n")
  }

  // MARK: Replacing

  private func replace(_ text: String, at place: Place) async throws(RulesRefusal) {
    // First for apps that are opened from now on, so that no app is missed.
    let isNewBucket = state.withLock { state in
      if place == Place(product: .storage) { state.deniesOtherBuckets = false }
      return state.texts.updateValue(text, forKey: place) == nil && place.product == .storage && place.name != nil
    }
    // A tool has replaced the rules of all buckets since the start.
    if isNewBucket { return try await replaceBuckets() }
    for rules in openRules {
      if let name = place.name {
        _ = try await rules.replaceRules(with: text, of: place.product, scope: name)
      } else {
        _ = try await rules.replaceRules(with: text, of: place.product)
      }
    }
  }

  /// Puts the texts of all buckets in force in the apps that are open.
  func replaceBuckets() async throws(RulesRefusal) {
    let (texts, deniesOthers) = state.withLock { ($0.texts, $0.deniesOtherBuckets) }
    var sources: [String: String] = [:]
    for (place, text) in texts where place.product == .storage {
      if let name = place.name { sources[name] = text }
    }
    let others = deniesOthers ? nil : texts[Place(product: .storage)] ?? (isDevelopment ? Self.openStorage : nil)
    for rules in openRules { _ = try await rules.replaceRules(ofBuckets: sources, others: others) }
  }

  /// The rules of the apps that are open.
  private var openRules: [any RulesAdministration] {
    openApps.withLock { $0 }().compactMap { try? $0.container.find((any RulesAdministration).self) }
  }

  private static let openStorage = """
    rules_version = '2';
    service firebase.storage { match /b/{bucket}/o { match /{path=**} { allow read, write: if true; } } }
    """

  private static let open = RulesSources(
    firestore: .text(
      """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{database}/documents { match /{document=**} { allow read, write: if true; } }
      }
      """),
    storage: .text(openStorage),
    database: .text(#"{"rules":{".read":true,".write":true}}"#))
}

/// Replaces the rules of all projects at once.
extension ServerRules: RulesAdministration {
  func checkRules(_ source: String, of product: RuledProduct) async throws(RulesRefusal) -> [RulesRemark] {
    do throws(RulesetError) {
      return try product.compile(source).map(RulesRemark.init)
    } catch {
      throw RulesRefusal(error.issues.map(RulesRemark.init))
    }
  }

  func replaceRules(
    with source: String, of product: RuledProduct
  ) async throws(RulesRefusal) -> [RulesRemark] {
    let warnings = try await checkRules(source, of: product)
    try await replace(source, at: Place(product: product))
    return warnings
  }

  func rulesInForce(of product: RuledProduct) -> String? {
    state.withLock { $0.texts[Place(product: product)] }
  }

  /// Replaces the rules of one database or bucket, where it has separate rules; the rules of all others otherwise.
  func replaceRules(
    with source: String, of product: RuledProduct, scope: String
  ) async throws(RulesRefusal) -> [RulesRemark] {
    let place = Place(product: product, name: scope)
    guard files[place] != nil else { return try await replaceRules(with: source, of: product) }
    let warnings = try await checkRules(source, of: product)
    try await replace(source, at: place)
    return warnings
  }

  /// None: each project counts by itself.
  func coverage(of product: RuledProduct, as form: RulesCoverageForm) -> String? { nil }
}

private let log = Logger(service: "VestaServer")
