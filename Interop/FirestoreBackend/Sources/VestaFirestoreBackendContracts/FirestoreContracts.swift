public import VestaTesting

/// The promises of every `FirestoreBackend`, as checks.
///
/// A backend that lacks something on purpose is held to the lists it can keep:
///
/// ```swift
/// let outcomes = await FirestoreContracts.all.run(against: { try await FirestoreSubject(makeBackend()) })
/// ```
public enum FirestoreContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<FirestoreSubject>] =
    commits + transforms + reads + listings + queries + past + transactions + listening + receivers + resuming
    + writeCalls
    + repeatedWrites + callers + histories

  /// The promises that need neither the past nor transactions nor calls that stay open.
  public static let basic: [Contract<FirestoreSubject>] = commits + transforms + reads + queries
}
