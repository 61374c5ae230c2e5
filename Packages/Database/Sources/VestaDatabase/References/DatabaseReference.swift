import Foundation
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel

// Sound as @unchecked Sendable: it adds no stored properties; the class hierarchy of the Firebase SDK.
/// A path of a database: reads it, writes it, leads to others.
public final class DatabaseReference: DatabaseQuery, @unchecked Sendable, CustomDebugStringConvertible {
  init(_ database: Database, _ path: DatabasePath, problem: String? = nil) {
    super.init(database, path, QueryTerms(), problem: problem)
  }

  // MARK: Places

  /// The reference below this one, by a key or a path.
  ///
  /// A path that is not valid results in a reference whose every use fails with a sentence that says why.
  public func child(_ pathString: String) -> DatabaseReference {
    let isValid = path.isRoot ? KeyRules.isValidRootPath(pathString) : KeyRules.isValidPath(pathString)
    return DatabaseReference(
      database, path.appending(DatabasePath(pathString)), problem: problem ?? (isValid ? nil : Texts.path("child:")))
  }

  /// The reference below this one with a new key, which sorts after all that were made before.
  public func childByAutoId() -> DatabaseReference {
    descendant(DatabasePath([DatabaseKey(database.nextPushID())]))
  }

  func descendant(_ below: DatabasePath) -> DatabaseReference {
    DatabaseReference(database, path.appending(below), problem: problem)
  }

  /// The reference above; `nil` at the root.
  public var parent: DatabaseReference? { path.parent.map { DatabaseReference(database, $0, problem: problem) } }

  /// The root.
  public var root: DatabaseReference { DatabaseReference(database, .root) }

  /// The last part of the path; `nil` at the root.
  public var key: String? { path.back?.text }

  /// The address.
  public var url: String {
    let root = database.address.root
    guard !path.isRoot else { return root }
    return root + "/" + path.keys.map { Self.encoding.encode($0.text) }.joined(separator: "/")
  }

  private static let encoding = PercentEncoding(leaving: "-_~")

  /// The address.
  public var debugDescription: String { url }

  /// The address: the form of the Apple SDK, where the description is a method.
  public func description() -> String { url }

  // MARK: The connection

  /// Closes the connection of the default app's database, and opens none until ``goOnline()``.
  public class func goOffline() { Database.database().goOffline() }

  /// Connects the default app's database again.
  public class func goOnline() { Database.database().goOnline() }

  // MARK: Writing

  /// Runs a checked write.
  ///
  /// - Parameter make: Makes what is written, or says why it cannot be.
  func write(
    _ completion: @escaping WriteCompletion,
    _ make: () throws(InvalidValue) -> @Sendable (isolated Repo, @escaping WriteCompletion) -> Void
  ) {
    do throws(InvalidValue) {
      if let problem { throw InvalidValue(problem) }
      let body = try make()
      repo.perform { body($0, completion) }
    } catch {
      Logs.misuse(error.description)
      let misuse = DatabaseError(.other, error.description)
      repo.perform { $0.complete { completion(misuse) } }
    }
  }

  /// Runs a write and waits for the service.
  ///
  /// - Throws: The error of the write; `CancellationError`, at once, when the task is cancelled. A write that has begun
  ///   continues all the same.
  func written(_ start: (@escaping WriteCompletion) -> Void) async throws -> DatabaseReference {
    try await Turn<Void>().wait { turn in
      start { error in turn.begin()?.resume(with: error.map { .failure($0) } ?? .success(())) }
    }
    return self
  }

  func set(_ value: Any?, priority: Any?, _ function: String, _ completion: @escaping WriteCompletion) {
    write(completion) { () throws(InvalidValue) in
      let node = try self.node(value, priority: priority, function)
      let path = path
      return { repo, completion in repo.write(path, .overwrite(node), completion) }
    }
  }

  func setPriority(_ priority: Any?, _ function: String, _ completion: @escaping WriteCompletion) {
    write(completion) { () throws(InvalidValue) in
      try checkWritable(function)
      let leaf = try prefixed(function) { () throws(InvalidValue) in try NodeImport(at: path).priority(priority) }
      let (place, node) = (path.child(.priority), leaf.map { DatabaseNode($0) } ?? .empty)
      return { repo, completion in repo.write(place, .overwrite(node), completion) }
    }
  }

  func update(_ values: [AnyHashable: Any], _ function: String, _ completion: @escaping WriteCompletion) {
    write(completion) { () throws(InvalidValue) in
      let values = try self.updateValues(values, function)
      let path = path
      return { repo, completion in repo.write(path, .merge(values), completion) }
    }
  }

  // MARK: Checks

  func node(_ value: Any?, priority: Any?, _ function: String) throws(InvalidValue) -> DatabaseNode {
    try checkWritable(function)
    return try prefixed(function) { () throws(InvalidValue) in
      try NodeImport(at: path).node(value, priority: priority)
    }
  }

  func checkWritable(_ function: String) throws(InvalidValue) {
    if path.front?.text == ".info" { throw InvalidValue(Texts.info(function, "\(path)")) }
  }

  private func prefixed<Value>(
    _ function: String, _ body: () throws(InvalidValue) -> Value
  ) throws(InvalidValue) -> Value {
    do throws(InvalidValue) {
      return try body()
    } catch {
      throw InvalidValue("(\(function)) \(error.description)")
    }
  }

  func updateValues(
    _ values: [AnyHashable: Any], _ function: String
  ) throws(InvalidValue) -> [DatabasePathValue] {
    try checkWritable(function)
    var result: [DatabasePathValue] = []
    for (name, value) in values {
      let text = (name.base as? String) ?? "\(name.base)"
      let relative = DatabasePath(text)
      let isPriority = relative.back?.isPriority == true
      let plain = isPriority ? relative.parent ?? .root : relative
      guard !relative.isRoot, plain.isRoot || KeyRules.isValidPath(plain.text) else {
        throw InvalidValue(Texts.updateKey(function))
      }
      result.append(DatabasePathValue(relative, try node(value, at: plain, isPriority: isPriority, function)))
    }
    result.sort { $0.path.text < $1.path.text }
    if let (upper, lower) = DatabasePath.overlap(in: result.map(\.path)) {
      throw InvalidValue(
        "(\(function)) Invalid path in object. Path (\(upper)) is an ancestor of (\(lower)).")
    }
    return result
  }

  private func node(
    _ value: Any, at relative: DatabasePath, isPriority: Bool, _ function: String
  ) throws(InvalidValue) -> DatabaseNode {
    let place = NodeImport(at: path.appending(relative))
    return try prefixed(function) { () throws(InvalidValue) in
      guard isPriority else { return try place.node(value) }
      return try place.priority(value).map { DatabaseNode($0) } ?? .empty
    }
  }
}
