import VestaDatabaseBackend
import VestaDatabaseModel

extension DatabaseReference {
  func onDisconnectSet(_ value: Any?, priority: Any?, _ function: String, _ completion: @escaping WriteCompletion) {
    write(completion) { () throws(InvalidValue) in
      let request = DatabaseRequest.onDisconnectPut(path, try node(value, priority: priority, function))
      return { repo, completion in repo.onDisconnect(request, completion) }
    }
  }

  func onDisconnectUpdate(_ values: [AnyHashable: Any], _ function: String, _ completion: @escaping WriteCompletion) {
    write(completion) { () throws(InvalidValue) in
      let request = DatabaseRequest.onDisconnectMerge(path, try updateValues(values, function))
      return { repo, completion in repo.onDisconnect(request, completion) }
    }
  }

  func onDisconnectCancel(_ completion: @escaping WriteCompletion) {
    write(completion) { () throws(InvalidValue) in
      try checkWritable("cancelDisconnectOperations")
      let request = DatabaseRequest.onDisconnectCancel(path)
      return { repo, completion in repo.onDisconnect(request, completion) }
    }
  }

  /// Has the service replace the data at this path when this client's connection ends, whichever way it ends.
  ///
  /// - Throws: ``DatabaseError`` when the value cannot be stored or the service refuses it.
  @discardableResult
  public func onDisconnectSetValue(_ value: Any?) async throws -> DatabaseReference {
    try await written { onDisconnectSet(value, priority: nil, "onDisconnectSetValue:", $0) }
  }

  /// Has the service replace data and priority at this path when this client's connection ends.
  ///
  /// - Throws: ``DatabaseError`` when the value cannot be stored or the service refuses it.
  @discardableResult
  public func onDisconnectSetValue(_ value: Any?, andPriority priority: Any?) async throws -> DatabaseReference {
    try await written { onDisconnectSet(value, priority: priority, "onDisconnectSetValue:andPriority:", $0) }
  }

  /// Has the service remove the data at this path when this client's connection ends.
  ///
  /// - Throws: ``DatabaseError`` when the service refuses it.
  @discardableResult
  public func onDisconnectRemoveValue() async throws -> DatabaseReference {
    try await written { onDisconnectSet(nil, priority: nil, "onDisconnectRemoveValue:", $0) }
  }

  /// Has the service replace the data of several paths below this one when this client's connection ends.
  ///
  /// - Throws: ``DatabaseError`` when a value cannot be stored or the service refuses it.
  @discardableResult
  public func onDisconnectUpdateChildValues(_ values: [AnyHashable: Any]) async throws -> DatabaseReference {
    try await written { onDisconnectUpdate(values, "onDisconnectUpdateChildValues:", $0) }
  }

  /// Has the service forget the writes that it was to make at this path and below it when the connection ends.
  ///
  /// - Throws: ``DatabaseError`` when the service refuses it.
  @discardableResult
  public func cancelDisconnectOperations() async throws -> DatabaseReference {
    try await written { onDisconnectCancel($0) }
  }
}
