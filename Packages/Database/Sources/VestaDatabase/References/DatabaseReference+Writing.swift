public import VestaDataCoding
import VestaDatabaseModel

extension DatabaseReference {
  /// Replaces the data at this path; `nil` removes it.
  ///
  /// Observers of this client see it at once; when the service refuses it, it is taken back.
  ///
  /// - Throws: ``DatabaseError`` when the value cannot be stored or the service refuses it. Nothing is written then.
  @discardableResult
  public func setValue(_ value: Any?) async throws -> DatabaseReference {
    try await written { set(value, priority: nil, "setValue:", $0) }
  }

  /// Replaces the data and the priority at this path.
  ///
  /// - Throws: ``DatabaseError``, as for a value alone.
  @discardableResult
  public func setValue(_ value: Any?, andPriority priority: Any?) async throws -> DatabaseReference {
    try await written { set(value, priority: priority, "setValue:andPriority:", $0) }
  }

  /// Removes the data at this path.
  ///
  /// - Throws: ``DatabaseError`` when the service refuses it.
  @discardableResult
  public func removeValue() async throws -> DatabaseReference {
    try await written { set(nil, priority: nil, "removeValue:", $0) }
  }

  /// Sets the priority of this path, which changes nothing where nothing is.
  ///
  /// - Throws: ``DatabaseError`` when it cannot be a priority or the service refuses it.
  @discardableResult
  public func setPriority(_ priority: Any?) async throws -> DatabaseReference {
    try await written { setPriority(priority, "setPriority:", $0) }
  }

  /// Replaces the data of several paths below this one, all or none.
  ///
  /// - Parameter values: The data by keys or paths; none may be above another.
  /// - Throws: ``DatabaseError`` when a value cannot be stored or the service refuses the write.
  @discardableResult
  public func updateChildValues(_ values: [AnyHashable: Any]) async throws -> DatabaseReference {
    try await written { update(values, "updateChildValues:", $0) }
  }

  /// Encodes a value and replaces the data at this path with it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: The encoder.
  ///   - completion: Called on the callback queue when the service has answered.
  /// - Throws: `EncodingError`; nothing is written then.
  public func setValue<T: Encodable>(
    from value: T, encoder: Database.Encoder = Database.Encoder(), completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    set(try encoder.encode(value), priority: nil, "setValue:", { completion?($0) })
  }
}
