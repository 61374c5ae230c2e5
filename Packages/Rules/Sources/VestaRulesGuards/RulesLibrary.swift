public import VestaCore
import VestaDatabaseBackend
import VestaFirestoreBackend
import VestaServiceInterop
import VestaStorageBackend

/// Registers security rules: provides the guards that the engines of Firestore, Storage and the Realtime Database ask,
/// and ``ProjectRules`` to replace the rules while they run.
///
/// The rules come from ``RulesSources``; without them everything is denied until rules are set. Rules that do not
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
      EmbeddedService<ProjectRules>.provides((any FirestoreGuard).self) {
        FirestoreRulesGuard($0.firestore, $0.firestoreReports)
      },
      EmbeddedService<ProjectRules>.provides((any DatabaseGuard).self) {
        DatabaseRulesGuard($0.database, $0.databaseReports)
      },
      Component(
        (any StorageGuard).self, caching: .shared,
        dependencies: [
          .required(EmbeddedService<ProjectRules>.self), .optional((any FirestoreBackend).self),
        ]
      ) { container in
        let project = try container.require(EmbeddedService<ProjectRules>.self).engine
        let (rules, reports) = (project.storage, project.storageReports)
        guard let firestore = try container.find((any FirestoreBackend).self) else {
          return StorageRulesGuard(rules, reports)
        }
        return StorageRulesGuard(
          rules, reports, reading: BackendReading(backend: firestore, context: .owner),
          project: container.options.projectID ?? "no-project")
      },
    ]
  }
}
