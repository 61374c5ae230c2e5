public import VestaCore
import VestaDatabaseBackend
import VestaFirestoreBackend
import VestaServiceInterop
import VestaStorageBackend

// Rules without the library that reads them would let every caller do everything.
extension RulesSources: ComponentInput {
  /// The library that reads the rules of a project.
  public static var readBy: String { "RulesLibrary of VestaRulesGuards (Packages/Rules)" }
}

/// Registers security rules: provides the guards that the engines of Firestore, Storage and the Realtime Database ask,
/// and ``ProjectRules`` to replace the rules while they run.
///
/// ``RulesSources`` provides the rules; without them everything is denied until rules are set. Rules that do not
/// compile are an error of the engine that asks for its guard: no engine runs without the rules that it was given.
/// Rules of Storage look into Firestore where the app has it.
///
/// ```swift
/// try VestaApp.configure(libraries: [RulesLibrary.self, FirestoreServiceLibrary.self, NotesRules.self, …])
/// ```
public enum RulesLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-rules"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The rules of the project, and the guards that decide by them.
  public static func components() -> [Component] {
    [
      EmbeddedService<ProjectRules>.component(
        product: "Rules", dependencies: [.optional(RulesSources.self), .optional(RulesReporting.self)]
      ) {
        container, _ in
        try ProjectRules(
          try container.find(RulesSources.self) ?? RulesSources(),
          reporting: try container.find(RulesReporting.self) ?? RulesReporting())
      } close: { _ in
      },
      EmbeddedService<ProjectRules>.provides(ProjectRules.self) { $0 },
      EmbeddedService<ProjectRules>.provides((any RulesAdministration).self) { $0 },
      EmbeddedService<ProjectRules>.provides((any FirestoreGuard).self) { firestoreGuard($0) },
      EmbeddedService<ProjectRules>.provides((any DatabaseGuard).self) { databaseGuard($0) },
      storageGuardComponent(),
    ]
  }

  /// The guard of Storage, whose rules may read documents of Firestore.
  private static func storageGuardComponent() -> Component {
    Component(
      (any StorageGuard).self, caching: .shared,
      dependencies: [.required(EmbeddedService<ProjectRules>.self), .optional((any FirestoreBackend).self)]
    ) { container in
      let project = try container.require(EmbeddedService<ProjectRules>.self).engine
      let reading = try container.find((any FirestoreBackend).self).map {
        BackendReading(backend: $0, context: .owner)
      }
      return storageGuard(project, reading, project: container.options.resourceProjectID)
    }
  }

  private static func firestoreGuard(_ rules: ProjectRules) -> any FirestoreGuard {
    func one(_ rules: ProjectRules) -> FirestoreRulesGuard {
      FirestoreRulesGuard(rules.firestore, rules.firestoreReports)
    }
    guard let named = rules.named[.firestore] else { return one(rules) }
    return ScopedFirestoreGuard(others: one(rules), named: named.mapValues(one))
  }

  private static func databaseGuard(_ rules: ProjectRules) -> any DatabaseGuard {
    let others = DatabaseRulesGuard(rules.database, rules.databaseReports)
    guard let named = rules.named[.database] else { return others }
    return ScopedDatabaseGuard(
      others: others, named: named.mapValues { DatabaseRulesGuard($0.database, $0.databaseReports) })
  }

  private static func storageGuard(
    _ rules: ProjectRules, _ reading: BackendReading?, project: String
  ) -> any StorageGuard {
    ScopedStorageGuard(rules: rules) { rules in
      guard let reading else { return StorageRulesGuard(rules.storage, rules.storageReports) }
      return StorageRulesGuard(rules.storage, rules.storageReports, reading: reading, project: project)
    }
  }
}
