import VestaBytes
import VestaConcurrency

/// A verifier that remembers what another one has verified, until it expires.
///
/// Entries are kept by the SHA-256 digest of the token, with the kind of credential and the project of the call.
/// Failures are not kept. Calls at the same time with one token share one verification. A token that was revoked is
/// accepted until it expires, or until the longest time for which an answer is kept, as in Firebase.
///
/// ```
/// 0 s   verify(token A, expires at 3600 s)   asks the verifier, keeps the answer
/// 9 s   verify(token A)                      from the table
/// 3600 s verify(token A)                     asks the verifier, which refuses it
/// ```
public final class CachedCallerVerifier: CallerVerifier {
  private struct State {
    var table: VerifiedCallerTable
    /// The last token: a client in the process calls with one for an hour, and is not to pay for a digest each time.
    var last: (key: Source, digest: VerifiedCallerTable.Key)?
  }

  private struct Source: Hashable {
    let credential: Credential
    let project: String?
  }

  private let verifier: any CallerVerifier
  private let clock: ServiceClock
  private let longest: Int64
  private let state: Locked<State>
  private let flights = SingleFlight<VerifiedCallerTable.Key, VerifiedCaller>()

  /// A cache in front of a verifier.
  ///
  /// - Parameters:
  ///   - verifier: Verifies what is not in the table.
  ///   - clock: The clock by which answers expire.
  ///   - limit: The number of answers that are kept; the least recently used ones are dropped first.
  ///   - longest: The longest time for which an answer is kept.
  public init(
    _ verifier: any CallerVerifier, clock: ServiceClock = .system, limit: Int = 10_000,
    longest: Duration = .seconds(3600)
  ) {
    self.verifier = verifier
    self.clock = clock
    self.longest = longest.microseconds
    state = Locked(State(table: VerifiedCallerTable(limit: limit)))
  }

  /// The number of answers that are kept.
  public var count: Int { state.withLock { $0.table.count } }

  /// Forgets all answers, as after a change of keys.
  public func removeAll() { state.withLock { $0.table.removeAll() } }

  /// Returns the kept answer, or asks the verifier.
  public func verify(_ credential: Credential, project: String?) async throws(ServiceStatus) -> VerifiedCaller {
    if let answer = try verifyAtOnce(credential, project: project) { return answer }
    let source = Source(credential: credential, project: project)
    let now = clock.now()
    let key = state.withLock { state in state.last.flatMap { $0.key == source ? $0.digest : nil } } ?? Self.key(source)
    let answer = state.withLock { state in
      state.last = (source, key)
      return state.table.find(key, now: now)
    }
    if let answer { return answer }
    do {
      return try await flights.value(for: key) { [self] in
        let answer = try await verifier.verify(credential, project: project)
        keep(answer, key)
        return answer
      }
    } catch let status as ServiceStatus {
      throw status
    } catch {
      throw ServiceStatus(.cancelled, "The call was cancelled.")
    }
  }

  /// The answer that is kept for the last token, or the one that the verifier has without a wait.
  public func verifyAtOnce(_ credential: Credential, project: String?) throws(ServiceStatus) -> VerifiedCaller? {
    let source = Source(credential: credential, project: project)
    let now = clock.now()
    let known = state.withLock { state in
      // Copies of one string are compared by address.
      state.last.flatMap { $0.key == source ? $0.digest : nil }.flatMap { state.table.find($0, now: now) }
    }
    if let known { return known }
    return try verifier.verifyAtOnce(credential, project: project)
  }

  private func keep(_ answer: VerifiedCaller, _ key: VerifiedCallerTable.Key) {
    guard let expiry = answer.expiry else { return }
    let now = clock.now()
    let (limit, overflows) = now.addingReportingOverflow(longest)
    state.withLock { $0.table.add(answer, key, from: now, until: min(expiry, overflows ? .max : limit)) }
  }

  private static func key(_ source: Source) -> VerifiedCallerTable.Key {
    var kind: UInt8 = 0
    if case .bearer = source.credential { kind = 1 }
    return VerifiedCallerTable.Key(
      digest: SHA256.digest(Array(source.credential.token.utf8)), kind: kind, project: source.project)
  }
}

/// Verified callers by the digest of their token, with a bound; pure.
///
/// Two generations make it cheap to drop the least recently used half: an entry that is found in the old generation
/// moves to the young one; when the young one has half of the limit, it becomes the old one, and the old one is
/// dropped.
struct VerifiedCallerTable {
  struct Key: Hashable, Sendable {
    var digest: [UInt8]
    var kind: UInt8
    var project: String?
  }

  private struct Entry {
    var answer: VerifiedCaller
    /// The time of the verification: a clock that was set back to before it makes the entry worthless.
    var from: Int64
    var until: Int64
  }

  private let half: Int
  private var young: [Key: Entry] = [:]
  private var old: [Key: Entry] = [:]

  init(limit: Int) { half = max(1, limit / 2) }

  var count: Int { young.count + old.count }

  mutating func removeAll() { (young, old) = ([:], [:]) }

  mutating func find(_ key: Key, now: Int64) -> VerifiedCaller? {
    if let entry = young[key] { return valid(entry, key, now) }
    guard let entry = old.removeValue(forKey: key) else { return nil }
    insert(entry, key)
    return valid(entry, key, now)
  }

  mutating func add(_ answer: VerifiedCaller, _ key: Key, from: Int64, until: Int64) {
    old[key] = nil
    if until > from { insert(Entry(answer: answer, from: from, until: until), key) }
  }

  private mutating func insert(_ entry: Entry, _ key: Key) {
    if young.count >= half, young[key] == nil { (old, young) = (young, [:]) }
    young[key] = entry
  }

  private mutating func valid(_ entry: Entry, _ key: Key, _ now: Int64) -> VerifiedCaller? {
    if entry.from <= now, now < entry.until { return entry.answer }
    young[key] = nil
    return nil
  }
}
