internal import Foundation
internal import VestaConcurrency
internal import VestaFirestoreBackend
internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// Reads and writes that happen at one time, or not at all: the block of `runTransaction` gets one.
///
/// All reads precede all writes. A transaction belongs to its block: using it afterwards stops the program.
public final class Transaction: Sendable {
  private let state = Locked(TransactionMachine())
  private let firestore: Firestore
  private let client: SyncClient

  init(firestore: Firestore, client: SyncClient) {
    self.firestore = firestore
    self.client = client
  }

  /// Reads a document and waits on the calling thread, which must be that of a block of
  /// `runTransaction(_:completion:)`.
  ///
  /// In an asynchronous block use ``document(_:)``.
  ///
  /// - Throws: ``FirestoreErrorCode``: `invalidArgument` after a write, `aborted` if the document has changed since an
  ///   earlier read, or the backend's refusal.
  public func getDocument(_ document: DocumentReference) throws -> DocumentSnapshot {
    let answer = BlockedAnswer<DocumentSnapshot>()
    Task.detached { answer.give(await Result { try await self.document(document) }) }
    return try answer.wait()
  }

  /// Reads a document.
  ///
  /// - Throws: As ``getDocument(_:)``.
  public func document(_ document: DocumentReference) async throws -> DocumentSnapshot {
    check(document)
    do {
      try state.withLock { try $0.willRead() }
      let found = try await client.lookup([document.resourcePath])
      guard let read = found.first else {
        throw FirestoreErrorCode(.internal, "The backend answered without a document.")
      }
      try state.withLock { try $0.didRead(read) }
      return DocumentSnapshot(
        reference: document, document: read, metadata: SnapshotMetadata(hasPendingWrites: false, isFromCache: false))
    } catch {
      throw FirestoreErrorCode.publicError(error)
    }
  }

  /// Writes a document when the transaction is committed; all its fields are replaced.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference) -> Transaction {
    setData(data, forDocument: document, merge: false)
  }

  /// Writes a document when the transaction is committed.
  ///
  /// - Parameters:
  ///   - data: The fields.
  ///   - document: The document.
  ///   - merge: Whether fields that are not in the data are kept.
  /// - Returns: The transaction.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> Transaction {
    setEntries(UserValue.entries(of: data), document, merge)
  }

  /// Writes the named fields of the data when the transaction is committed.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]
  ) -> Transaction {
    setEntries(UserValue.entries(of: data), document, mergeFields)
  }

  /// Changes fields of an existing document when the transaction is committed.
  @discardableResult
  public func updateData(_ fields: [AnyHashable: Any], forDocument document: DocumentReference) -> Transaction {
    add(document) { try .update(document, fields) }
  }

  /// Deletes a document when the transaction is committed.
  @discardableResult
  public func deleteDocument(_ document: DocumentReference) -> Transaction {
    add(document) { Mutation(document.resourcePath, .delete) }
  }

  /// Writes a document with the fields of a value.
  ///
  /// - Throws: `EncodingError`; nothing is added then.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument doc: DocumentReference, encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> Transaction {
    setEntries(try encoder.entries(of: value), doc, false)
  }

  /// Writes a document with the fields of a value.
  ///
  /// - Throws: `EncodingError`; nothing is added then.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument doc: DocumentReference, merge: Bool, encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> Transaction {
    setEntries(try encoder.entries(of: value), doc, merge)
  }

  /// Writes the named fields of a value.
  ///
  /// - Throws: `EncodingError`; nothing is added then.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument doc: DocumentReference, mergeFields: [Any],
    encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> Transaction {
    setEntries(try encoder.entries(of: value), doc, mergeFields)
  }

  private func setEntries(_ entries: [UserEntry], _ document: DocumentReference, _ merge: Bool) -> Transaction {
    add(document) { try .set(document, entries, as: merge ? .merge : .set) }
  }

  private func setEntries(_ entries: [UserEntry], _ document: DocumentReference, _ mergeFields: [Any]) -> Transaction {
    add(document) { try .set(document, entries, as: .mergeFields(mergeFields.map(FieldPath.reading))) }
  }

  /// Sends the writes, with what was read as their condition.
  func commit() async throws {
    let mutations = try state.withLock { try $0.finish() }
    if !mutations.isEmpty { try await client.commit(mutations) }
  }

  private func add(_ document: DocumentReference, _ make: () throws -> Mutation) -> Transaction {
    check(document)
    let result = Result { try make() }
    state.withLock { $0.add(result) }
    return self
  }

  private func check(_ document: DocumentReference) {
    precondition(
      document.firestore === firestore, "Provided document reference is from a different Cloud Firestore instance.")
  }
}

/// The reads and writes of a transaction; the conditions of its writes follow from its reads.
struct TransactionMachine {
  /// The versions that were read; `nil` for a document that did not exist.
  private var versions: [ResourcePath: WireTimestamp?] = [:]
  private var written: Set<ResourcePath> = []
  private var mutations: [Mutation] = []
  private var failure: (any Error)?
  private var isOver = false

  func willRead() throws {
    precondition(!isOver, "A transaction object cannot be used after its update callback has been invoked.")
    guard mutations.isEmpty else {
      throw FirestoreErrorCode.invalid("Firestore transactions require all reads to be executed before all writes")
    }
  }

  mutating func didRead(_ document: CachedDocument) throws {
    let version: WireTimestamp? = document.isFound ? document.version : nil
    if let earlier = versions[document.path], earlier != version {
      throw FirestoreErrorCode(.aborted, "Document version changed between two reads.")
    }
    versions[document.path] = .some(version)
  }

  mutating func add(_ result: Result<Mutation, any Error>) {
    precondition(!isOver, "A transaction object cannot be used after its update callback has been invoked.")
    do {
      let mutation = try conditioned(result.get())
      mutations.append(mutation)
      written.insert(mutation.path)
    } catch {
      failure = failure ?? error
    }
  }

  /// The writes with their conditions, and a verification of every document that was read and is not written.
  mutating func finish() throws -> [Mutation] {
    isOver = true
    if let failure { throw failure }
    let verified = versions.keys.filter { !written.contains($0) }.sorted()
    return mutations + verified.map { Mutation($0, .verify, precondition: condition(of: $0)) }
  }

  private func conditioned(_ mutation: Mutation) throws -> Mutation {
    guard let read = versions[mutation.path], !written.contains(mutation.path) else { return mutation }
    if mutation.precondition == .exists(true), read == nil {
      throw FirestoreErrorCode.invalid("Can't update a document that doesn't exist.")
    }
    return Mutation(
      mutation.path, mutation.change, transforms: mutation.transforms, precondition: condition(of: mutation.path))
  }

  private func condition(of path: ResourcePath) -> Precondition {
    guard let version = versions[path] ?? nil else { return .exists(false) }
    return .updateTime(version)
  }
}

/// The answer for a thread that waits, as blocks of the completion form do.
private final class BlockedAnswer<Value: Sendable>: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  private let result = Locked<Result<Value, any Error>?>(nil)

  func give(_ result: Result<Value, any Error>) {
    self.result.withLock { $0 = result }
    semaphore.signal()
  }

  func wait() throws -> Value {
    semaphore.wait()
    guard let result = result.withLock({ $0 }) else { throw CancellationError() }
    return try result.get()
  }
}

extension Result where Failure == any Error {
  /// The outcome of an asynchronous closure.
  init(_ body: () async throws -> Success) async {
    do {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}

/// How transactions are run.
public final class TransactionOptions: Sendable {
  private let attempts = Locked(5)

  /// At most five attempts.
  public init() {}

  /// How often a transaction is run that others were in the way of; at least 1, anything else stops the program.
  public var maxAttempts: Int {
    get { attempts.withLock { $0 } }
    set {
      precondition(newValue > 0 && newValue <= Int(Int32.max), "Invalid maxAttempts: \(newValue)")
      attempts.withLock { $0 = newValue }
    }
  }
}
