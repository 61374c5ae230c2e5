/// A value that each thread has for itself.
///
/// A value belongs to a thread and a `fullKey`. Two instances with one `fullKey` share it; two threads never do.
/// Reading takes no lock, so this is also a cache for things that are expensive to make and must not be used by two
/// threads at once. A value that was stored under the same `fullKey` as another type reads as `nil`.
///
/// Values are released when their thread ends. A `fullKey` keeps a small slot in every thread for the life of the
/// process, so let keys be a fixed set of names, not made from data. A task may continue on another thread after an
/// `await`: do not carry a value across one, and do not hand a value that is not Sendable to another thread.
///
/// ```swift
/// let formatter = ThreadLocalValue<RowFormatter>(namespace: "Reports", key: "formatter") { _ in RowFormatter() }
/// let text = formatter.value()?.string(from: row)
/// ```
@frozen
public struct ThreadLocalValue<Value>: Sendable {
  /// The name space that was given, if any.
  public let namespace: String?

  /// The key within the name space.
  public let key: String

  /// The name under which values are stored: `namespace.key`, or the key alone without a name space.
  public let fullKey: String

  @usableFromInline
  let slot: Int

  @usableFromInline
  let instantiator: (@Sendable (ThreadLocalValue<Value>) -> Value?)?

  /// Names a thread-local value.
  ///
  /// Nothing is stored yet.
  ///
  /// - Parameters:
  ///   - namespace: Keeps keys of different modules apart.
  ///   - key: The name of the value within the name space.
  ///   - instantiator: Makes a value when ``value()`` finds none; gets this instance. `nil` means that there is none
  ///     now, and is not stored.
  public init(
    namespace: String? = nil, key: String, instantiator: (@Sendable (ThreadLocalValue<Value>) -> Value?)? = nil
  ) {
    self.namespace = namespace
    self.key = key
    self.instantiator = instantiator
    fullKey = namespace.map { "\($0).\(key)" } ?? key
    slot = ThreadSlotNumbers.number(for: fullKey)
  }

  /// The calling thread's value; made by the instantiator, and stored, if there is none.
  ///
  /// - Returns: The value; `nil` when there is none and the instantiator is absent or made none.
  @inlinable
  public func value() -> Value? {
    if let value = cachedValue() { return value }
    guard let value = instantiator?(self) else { return nil }
    setValue(value)
    return value
  }

  /// The calling thread's value as it is; never calls the instantiator.
  @inlinable
  public func cachedValue() -> Value? {
    guard let box = ThreadSlots.value(at: slot), type(of: box) == ThreadLocalBox<Value>.self else { return nil }
    return unsafeDowncast(box, to: ThreadLocalBox<Value>.self).value  // checked in the line above
  }

  /// Stores `value` for the calling thread; `nil` removes what is there, whatever its type.
  @inlinable
  public func setValue(_ value: Value?) {
    let old = ThreadSlots.exchange(value.map { ThreadLocalBox($0) }, at: slot)
    withExtendedLifetime(old) {}
  }
}

/// Gives a value of any type the size and the type tag of an object.
@usableFromInline
final class ThreadLocalBox<Value> {
  @usableFromInline
  let value: Value

  @inlinable
  init(_ value: Value) { self.value = value }
}
