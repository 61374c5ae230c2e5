import VestaConcurrency
import VestaStoreInterop
import VestaTesting

extension SplitMix {
  /// A key or value of at most `length` bytes out of a few, so that two of them are often neighbours or alike.
  mutating func bytes(upTo length: Int) -> [UInt8] {
    let alphabet: [UInt8] = [0, 1, 0x61, 0x62, 0x7F, 0x80, 0xFE, 0xFF]
    return (0..<Int.random(in: 0...length, using: &self)).map { _ in
      alphabet[Int.random(in: 0..<alphabet.count, using: &self)]
    }
  }

  /// A range between two random keys; now and then without an end, and now and then the wrong way round.
  mutating func range() -> KeyRange {
    KeyRange(from: bytes(upTo: 3), to: oneIn(5) ? nil : bytes(upTo: 3))
  }
}

/// A value guarded by a lock; unlike `Locked` it also keeps what cannot be sent, such as a transaction to misuse later.
// Sound as @unchecked Sendable: `state` is touched inside the critical section only.
final class Guarded<State>: @unchecked Sendable {
  private let section = CriticalSection()
  private var state: State

  init(_ state: State) { self.state = state }

  func withValue<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try section.execute { try body(&state) }
  }
}

/// A meeting point of several tasks, for engines that let them run side by side.
///
/// An engine may run one transaction at a time, so that the second never runs during the first. No caller waits
/// for good therefore: an engine that lets them meet is caught in the act, one that does not is no slower for it.
actor Meeting {
  private let parties: Int
  private var arrived = 0

  init(of parties: Int) { self.parties = parties }

  func arrive() async {
    arrived += 1
    for _ in 0..<300 where arrived < parties { await Task.yield() }
  }
}

/// The UTF-8 of a string, for legible keys and values.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// A number as a key of two bytes, in the order of numbers.
func key(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }

/// A number as decimal digits.
func number(_ number: Int) -> [UInt8] { bytes(String(number)) }

/// The number in a value; where there is none, one that no check and no sum expects: an absent value is not a zero.
func number(in value: [UInt8]?) -> Int {
  value.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? -1_000_000_007
}

/// The count in a value; zero where nothing has been counted yet.
func count(in value: [UInt8]?) -> Int { value == nil ? 0 : number(in: value) }

/// A version as decimal digits.
func number(in version: StoreVersion) -> [UInt8] { number(Int(version.microseconds)) }

/// The error of a failing body, which nothing else throws.
struct Failure: Error, Equatable {
  var number = 0
}

extension OrderedStore {
  /// Every entry in ascending order.
  func everything() async throws -> [StoreEntry] { try await read { try await $0.entries(in: .all) } }

  /// The value under one key.
  func value(for key: [UInt8]) async throws -> [UInt8]? { try await get(key) }

  /// Puts entries in one transaction.
  @discardableResult
  func fill(_ entries: [StoreEntry]) async throws -> StoreVersion {
    try await write { transaction in
      for entry in entries { try await transaction.put(entry.value, for: entry.key) }
    }.version
  }
}

/// Entries with the given strings as keys, each with its key as its value.
func entries(_ keys: String...) -> [StoreEntry] { keys.map { StoreEntry(key: bytes($0), value: bytes($0)) } }

/// Runs an operation several times at once and returns the results in order of their numbers.
func concurrently<Result: Sendable>(
  _ count: Int,
  _ operation: @escaping @Sendable (Int) async throws -> Result
) async throws -> [Result] {
  let tasks = (0..<count).map { number in Task.detached { try await operation(number) } }
  var results: [Result] = []
  for task in tasks { results.append(try await task.value) }
  return results
}
