import VestaStoreInterop

/// The versions in the file: a row that is written about four times a second while there are commits.
///
/// A commit whose version is at or below the floor leaves the row alone, which saves it a page. After a crash the
/// version of the last commit is not known, only that the floor is above it: the store then continues as if its last
/// commit had the version of the floor. A store that is closed writes the row once more, with the exact version.
///
/// | step | version | floor | exact |
/// | --- | --- | --- | --- |
/// | opened; the last commit was at 100.0 s | 100.0 | 100.0 | yes |
/// | a commit at 200.0 s | 200.0 | 200.25 | no |
/// | a commit at 200.1 s, which leaves the row alone | 200.0 | 200.25 | no |
/// | after a crash the last version counts as 200.25 s; after `close`: | 200.1 | 200.1 | yes |
struct StoredVersions: Equatable, Sendable {
  /// The version of a commit: of the last one if it is exact, otherwise of the one that wrote the row.
  var version: StoreVersion
  /// The version that no later commit may be at or below, unless this process has made it known that it may.
  var floor: StoreVersion
  /// Whether there was no commit since the row was written.
  var isExact: Bool

  /// How far the floor is put above a commit: a quarter of a second.
  static let lead: Int64 = 250_000

  /// The version of the last commit, as far as it is known after a start.
  var last: StoreVersion { isExact ? version : max(version, floor) }

  /// The row that a commit has to write; `nil` when this one covers it.
  func covering(_ commit: StoreVersion) -> StoredVersions? {
    if !isExact, commit <= floor { return nil }
    let lead = StoreVersion(microseconds: commit.microseconds + Self.lead)
    return StoredVersions(version: commit, floor: max(floor, lead), isExact: false)
  }

  /// The row with a higher floor.
  func raised(to floor: StoreVersion) -> StoredVersions {
    StoredVersions(version: version, floor: max(self.floor, floor), isExact: isExact)
  }
}
