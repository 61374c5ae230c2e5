import VestaBytes
import VestaConcurrency
import VestaCore
import VestaServiceInterop

/// The indexes that are declared at each moment: the indexes of the options, and the `.indexOn` parts of the rules in
/// force.
final class DeclaredIndexes: Sendable {
  private let own: DatabaseIndexes
  private let rules: (any RulesAdministration)?
  /// The indexes that rules declared when they were read last, by database.
  private let last = Locked<[String: (text: String, indexes: DatabaseIndexes)]>([:])

  init(_ options: DatabaseServiceOptions) { (own, rules) = (options.indexes, options.rules) }

  /// The indexes that are declared now for a database.
  func current(for namespace: String) -> DatabaseIndexes {
    guard let text = rules?.rulesInForce(of: .database, scope: namespace) else { return own }
    if let known = last.withLock({ $0[namespace]?.text == text ? $0[namespace]?.indexes : nil }) { return known }
    var indexes = own
    do throws(BytesError) {
      indexes.add(try DatabaseIndexes(rules: text))
    } catch {
      log.error("I-RDS000012", "The indexes of the rules cannot be read, and queries do without: \(error)")
    }
    last.withLock { $0[namespace] = (text, indexes) }
    return indexes
  }
}

private let log = Logger(service: "VestaDatabaseService")
