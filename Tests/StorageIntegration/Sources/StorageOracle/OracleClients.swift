import Foundation
import VestaConcurrency
public import VestaStorage
import VestaTesting

/// Clients that do what programs do with a bucket, at random and at the same time, and log it.
///
/// They use the public API alone. Each lane makes one call after another; the lanes share a few objects.
public final class OracleClients: Sendable {
  /// The objects that the clients use.
  public static let names = ["o/a", "o/b", "o/c/d", "o/c/\u{E9}", "o/kept"]

  let storages: [Storage]
  let folder: String
  let say: @Sendable (OracleEvent) -> Void
  let lanes: Int
  private let seed: UInt64
  private let ids: Locked<Int>

  /// Creates clients.
  ///
  /// - Parameters:
  ///   - storages: Storages of one bucket.
  ///   - folder: Where files are.
  ///   - seed: The seed of all that is random.
  ///   - firstID: The number of the first call.
  ///   - say: Takes the log.
  public init(
    _ storages: [Storage], folder: String, seed: UInt64, firstID: Int = 0,
    say: @escaping @Sendable (OracleEvent) -> Void
  ) {
    (self.storages, self.folder, self.seed, self.say) = (storages, folder, seed, say)
    var random = SplitMix(seed: seed)
    lanes = 2 + random.below(3)
    ids = Locked(firstID)
  }

  /// Makes `calls` calls in each lane, and waits for their answers.
  public func run(calls: Int) async {
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<lanes {
        group.addTask { [self] in
          var random = SplitMix(seed: seed &* 31 &+ UInt64(lane) &+ 1)
          for _ in 0..<calls { await call(lane, &random) }
        }
      }
    }
  }

  private func call(_ lane: Int, _ random: inout SplitMix) async {
    let storage = random.pick(storages), name = random.pick(Self.names)
    let reference = storage.reference(withPath: name)
    switch random.below(name == "o/kept" ? 11 : 12) {
    case 0...2: await put(reference, &random)
    case 3, 4: await write(reference, lane, &random)
    case 5: await get(reference, &random)
    case 6: await stream(reference, &random)
    case 7: await look(reference)
    case 8, 9: await change(reference, &random)
    case 10: await list(storage, &random)
    default: await delete(reference, cancels: random.oneIn(4))
    }
  }

  // MARK: Calls and their answers

  func begin(_ name: String, _ kind: OracleCall.Kind, _ fill: (inout OracleCall) -> Void = { _ in }) -> Int {
    var call = OracleCall(
      id: ids.withLock {
        $0 += 1; return $0
      }, name: name, kind: kind)
    fill(&call)
    say(.call(call))
    return call.id
  }

  func answer(_ id: Int, _ outcome: OracleAnswer.Outcome, _ fill: (inout OracleAnswer) -> Void = { _ in }) {
    var answer = OracleAnswer(id: id, outcome: outcome)
    fill(&answer)
    say(.answer(answer))
  }

  /// Logs an error: one that says that there is no object, a cancellation that was asked for, or a broken rule.
  func fail(_ id: Int, _ error: any Error, mayBeCancelled: Bool) {
    if (error as? StorageError)?.code == .objectNotFound { return answer(id, .missing) }
    let isCancellation = (error as? StorageError)?.code == .cancelled || error is CancellationError
    answer(id, .undecided)
    if !isCancellation || !mayBeCancelled { say(.broken("call \(id) failed: \(error)")) }
  }

  func done(_ id: Int, _ metadata: StorageMetadata) {
    answer(id, .done) {
      $0.generation = metadata.generation
      $0.size = metadata.size
      $0.metadata = OracleMetadata(
        generation: metadata.metageneration, contentType: metadata.contentType,
        custom: metadata.customMetadata ?? [:])
    }
  }

  // MARK: Metadata, listings, deletion

  func look(_ reference: StorageReference) async {
    let id = begin(reference.fullPath, .look)
    do {
      done(id, try await reference.getMetadata())
    } catch {
      fail(id, error, mayBeCancelled: false)
    }
  }

  private func delete(_ reference: StorageReference, cancels: Bool) async {
    let id = begin(reference.fullPath, .delete)
    let task = Task { try await reference.delete() }
    if cancels { task.cancel() }
    do {
      try await task.value
      answer(id, .done)
    } catch {
      fail(id, error, mayBeCancelled: cancels)
    }
  }

  /// Sets values, or reads the metadata first, changes it, and sends it back: then the differences count.
  private func change(_ reference: StorageReference, _ random: inout SplitMix) async {
    var metadata = StorageMetadata(), removed: [String] = []
    if random.oneIn(2), let known = try? await reference.getMetadata() {
      metadata = known
      let keys = (known.customMetadata ?? [:]).keys.sorted()
      if !keys.isEmpty, random.oneIn(2) {
        removed = [random.pick(keys)]
        metadata.customMetadata?[removed[0]] = nil
      }
    }
    let key = "k\(random.below(3))", value = "\(random.next())"
    removed.removeAll { $0 == key }
    metadata.customMetadata = (metadata.customMetadata ?? [:]).merging([key: value]) { $1 }
    let type = random.oneIn(2) ? "text/x-\(random.below(100_000))" : nil
    if let type { metadata.contentType = type }
    let id = begin(reference.fullPath, .change) {
      ($0.custom, $0.removed, $0.contentType) = ([key: value], removed, type)
    }
    do {
      done(id, try await reference.updateMetadata(metadata))
    } catch {
      fail(id, error, mayBeCancelled: false)
    }
  }

  /// Lists the objects in pages: each object is there or not at some time of the listing, and none twice.
  func list(_ storage: Storage, _ random: inout SplitMix) async {
    let folder = storage.reference(withPath: random.oneIn(2) ? "o" : "o/c")
    let names = Self.names.filter { name in storage.reference(withPath: name).parent()?.fullPath == folder.fullPath }
    let ids = names.map { begin($0, .look) }
    let size = Int64(1 + random.below(3))
    var listed: [String] = []
    do {
      var page = try await folder.list(maxResults: size)
      while true {
        let count = page.items.count + page.prefixes.count
        if count > size { say(.broken("a page of \(size) has \(count)")) }
        if count == 0, page.pageToken != nil { say(.broken("an empty page is not the last")) }
        listed += page.items.map(\.fullPath)
        guard let token = page.pageToken else { break }
        page = try await folder.list(maxResults: size, pageToken: token)
      }
    } catch {
      say(.broken("list of \(folder.fullPath): \(error)"))
    }
    if Set(listed).count != listed.count
      || listed != listed.sorted(by: { Array($0.utf8).lexicographicallyPrecedes($1.utf8) })
    {
      say(.broken("the listing is not in order: \(listed)"))
    }
    for (name, id) in zip(names, ids) { answer(id, listed.contains(name) ? .done : .missing) }
  }
}
