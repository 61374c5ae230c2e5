import VestaConcurrency

/// The places of the transfers that run at once in a process, shared by all instances of `Storage`.
///
/// Each transfer has files open and content in memory while it runs: without a limit, a program that starts a thousand
/// uploads would use up the file descriptors of the process. Waiting ones hold nothing.
final class TransferPlaces: Sendable {
  /// The places of the process.
  static let shared = TransferPlaces(count: StorageTuning().transfers)

  private let shares: FairShares<ObjectIdentifier>

  init(count: Int) { shares = FairShares(limit: count) }

  /// The numbers of running and of waiting transfers.
  var counts: (running: Int, waiting: Int) { (shares.runningCount, shares.waitingCount) }

  /// A place for an attempt of a transfer.
  ///
  /// - Parameter owner: Of two owners with transfers that wait, the one with fewer running ones is next.
  func place(of owner: AnyObject) -> TransferPlace { TransferPlace(shares, ObjectIdentifier(owner)) }
}

/// The place of one attempt; of one task at a time.
final class TransferPlace: Sendable {
  private let shares: FairShares<ObjectIdentifier>
  private let owner: ObjectIdentifier
  private let isHeld = Locked(false)

  init(_ shares: FairShares<ObjectIdentifier>, _ owner: ObjectIdentifier) {
    (self.shares, self.owner) = (shares, owner)
  }

  /// Waits for the place.
  ///
  /// - Throws: `CancellationError`.
  func enter() async throws {
    try await shares.enter(owner)
    isHeld.withLock { $0 = true }
  }

  /// Gives the place back, if it is held.
  func leave() {
    let wasHeld = isHeld.withLock { isHeld in
      defer { isHeld = false }
      return isHeld
    }
    if wasHeld { shares.leave(owner) }
  }

  /// Waits for something that is not the transfer's own work, such as the content of a sequence, without the place.
  func outside<Result>(_ body: () async throws -> Result) async throws -> Result {
    leave()
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    try await enter()
    return try result.get()
  }
}
