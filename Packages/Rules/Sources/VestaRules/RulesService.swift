/// The service that a rules file is for.
public enum RulesService: String, Sendable, CaseIterable {
  /// Firestore.
  case firestore = "cloud.firestore"
  /// Storage.
  case storage = "firebase.storage"
}
