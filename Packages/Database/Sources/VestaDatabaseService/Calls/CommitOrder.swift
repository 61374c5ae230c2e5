import VestaServiceInterop
import VestaStoreInterop

/// Which commits of a shared store the listens have been sent, and whether any is missing before the next one; pure.
///
/// The store reports every commit once, in the order of versions. An engine whose own commit follows another one of its
/// own need not read the log of the others, which costs a round trip to a store on a network.
///
/// Example: version 7 was published last, and the log was read then. The store reports 8, of another engine, and 9, of
/// this one: before 9 is published the log has to be read. It then reports 10, of this engine: nothing is between, and
/// 10 is published at once. Had 10 not been reported yet, an 8 or 9 would be unknown.
struct CommitOrder: Sendable {
  /// The last commit whose changes were sent to the listens.
  private(set) var published = StoreVersion.zero
  /// The version up to which the log was read; `nil` before the first time.
  private var read: StoreVersion?
  private var reported: Set<StoreVersion> = []
  private var own: Set<StoreVersion> = []

  /// Begins after a version; commits above it that were not reported are in the log.
  mutating func begin(after version: StoreVersion) { self = CommitOrder(published: version) }

  private init(published: StoreVersion) { self.published = published }

  init() {}

  /// Notes a commit that the store has reported.
  mutating func report(_ version: StoreVersion) {
    if version > published { reported.insert(version) }
  }

  /// Notes a commit of this engine.
  mutating func noteOwn(_ version: StoreVersion) {
    if version > published { own.insert(version) }
  }

  /// Whether nothing of others is between the last published commit and an own one.
  ///
  /// - Parameter span: How long ago, in the time of the store, the log may have been read for the last time.
  func isNext(_ version: StoreVersion, within span: Duration) -> Bool {
    guard let read, version.microseconds - read.microseconds < span.microseconds else { return false }
    return reported.contains(version) && reported.allSatisfy { $0 > version || own.contains($0) }
  }

  /// Notes that the listens were sent everything up to a version.
  mutating func publish(_ version: StoreVersion) {
    guard version > published else { return }
    published = version
    reported = reported.filter { $0 > version }
    own = own.filter { $0 > version }
  }

  /// Notes that the log was read, and sent to the listens, up to a version.
  mutating func noteRead(_ version: StoreVersion) {
    read = max(read ?? version, version)
    publish(version)
  }

  /// The number of commits that are remembered.
  var count: Int { reported.count + own.count }
}
