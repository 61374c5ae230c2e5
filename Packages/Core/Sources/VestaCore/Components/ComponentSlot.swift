public import Synchronization

/// The component that a slot belongs to.
@usableFromInline
struct SlotInfo: Sendable {
  let index: Int
  let name: String
  let library: String
  let timing: InstantiationTiming
}

/// The place of one component in one app's container, whatever its protocol is.
@usableFromInline
class AnySlot: @unchecked Sendable {  // sound: immutable but for the subclass's `instance`, see there
  let info: SlotInfo

  /// Whether `instance` has been written; never becomes `false` again.
  @usableFromInline
  let isReady = Atomic<Bool>(false)

  init(_ info: SlotInfo) { self.info = info }

  /// Has the container create the instance; the subclass opens the slot's generic type.
  func touch(in container: ComponentContainer) throws(VestaError) {
    preconditionFailure("AnySlot is abstract")
  }

  /// The cached instance; `nil` where none has been made.
  var cachedInstance: (any Sendable)? { nil }
}

/// The place of a component that provides `Interface`.
///
/// Reading a cached instance takes no lock: `place` is written once, before `isReady` is stored with release order, and
/// is never written again; who has loaded `isReady` with acquire order may read it.
@usableFromInline
final class ComponentSlot<Interface: Sendable>: AnySlot, @unchecked Sendable {  // sound: see above
  /// Where the instance is, once `isReady`.
  // A pointer, allocated in init and freed in deinit: a stored property would be read through exclusivity checks and
  // unspecialised copies, which cost more than the whole look-up.
  @usableFromInline
  let place: UnsafeMutablePointer<Interface>

  private let creationBlock: @Sendable (ComponentContainer, inout Bool) throws -> Interface?

  init(_ info: SlotInfo, create: @escaping @Sendable (ComponentContainer, inout Bool) throws -> Interface?) {
    creationBlock = create
    place = .allocate(capacity: 1)
    super.init(info)
  }

  deinit {
    if isReady.load(ordering: .acquiring) { place.deinitialize(count: 1) }
    place.deallocate()
  }

  /// The instance, if there is one that was kept.
  @inlinable
  var cached: Interface? { isReady.load(ordering: .acquiring) ? place.pointee : nil }

  /// Makes an instance, and keeps it when the creation block wants that.
  ///
  /// Only the thread that `CreationGate` let in calls this.
  func makeInstance(in container: ComponentContainer) throws(VestaError) -> (instance: Interface?, isCached: Bool) {
    var isCacheable = false
    let made: Interface?
    do {
      made = try creationBlock(container, &isCacheable)
    } catch let error as VestaError {
      throw error
    } catch {
      throw VestaError(
        .creationFailed,
        "The component for \(info.name) (library \(info.library)) could not be created.",
        underlying: error
      )
    }
    guard isCacheable, let made else { return (made, false) }
    place.initialize(to: made)
    isReady.store(true, ordering: .releasing)
    return (made, true)
  }

  override func touch(in container: ComponentContainer) throws(VestaError) {
    try container.touch(self)
  }

  override var cachedInstance: (any Sendable)? { cached }
}
