import VestaBytes
import VestaConcurrency
import VestaCore
import VestaServiceInterop

/// The indexes that are declared at each moment: those of the options, and the `.indexOn` parts of the rules in force.
final class DeclaredIndexes: Sendable {
  private let own: DatabaseIndexes
  private let rules: (any RulesAdministration)?
  /// What the rules declared when they were read last.
  private let last = Locked<(text: String, indexes: DatabaseIndexes)?>(nil)

  init(_ options: DatabaseServiceOptions) { (own, rules) = (options.indexes, options.rules) }

  /// The indexes that are declared now.
  var current: DatabaseIndexes {
    guard let text = rules?.rulesInForce(of: .database) else { return own }
    if let known = last.withLock({ $0?.text == text ? $0?.indexes : nil }) { return known }
    var indexes = own
    do throws(BytesError) {
      indexes.add(try DatabaseIndexes(rules: text))
    } catch {
      log.error("I-RDS000012", "The indexes of the rules cannot be read, and queries do without: \(error)")
    }
    last.withLock { $0 = (text, indexes) }
    return indexes
  }
}

private let log = Logger(service: "VestaDatabaseService")
