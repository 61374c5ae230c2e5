public import Synchronization
import VestaConcurrency

/// The components of one app: creates each instance when it is first needed, and returns it from then on.
///
/// - Creation happens once, however many threads ask at the same time; the others wait for it.
/// - A look-up of an instance that exists takes no lock and does not wait.
/// - A creation block may resolve other components. Components that would need themselves, in one thread or across
///   several, get an error with the path instead of a deadlock.
///
/// ```swift
/// let auth = container.resolve((any AuthInterop).self)       // nil when there is none
/// let store = try container.require((any StoreProvider).self)  // says what is missing
/// ```
///
/// Keep the app rather than its container: a container that is held on to after `VestaApp.delete()` provides nothing.
public final class ComponentContainer: Sendable {
  /// The name of the app that this container belongs to.
  public let appName: String

  /// The options of the app.
  public let options: VestaOptions

  @usableFromInline
  let providers: SlotTable

  /// Set once a look-up must not use its slot directly: an override, or the end of the app.
  @usableFromInline
  let hasDetour = Atomic<Bool>(false)

  private let contributions: [ObjectIdentifier: [AnySlot]]
  private let slots: [AnySlot]
  let gate: CreationGate<Int>
  let state = Locked(State())

  struct State {
    /// The app whose components these are.
    weak var owner: (any AnyObject & Sendable)?
    var created: [AnySlot] = []
    var overrides: [ObjectIdentifier: any Sendable] = [:]
    var isEmptied = false
  }

  init(graph: ComponentGraph, appName: String, options: VestaOptions) {
    self.appName = appName
    self.options = options
    slots = graph.nodes.enumerated().map { index, node in
      let timing = node.component.instantiationTiming
      return node.component.makeSlot(SlotInfo(index: index, name: node.name, library: node.library, timing: timing))
    }
    let names = slots.map(\.info.name)
    gate = CreationGate(place: "app \"\(appName)\"") { names[$0] }
    var providers: [ObjectIdentifier: AnySlot] = [:]
    var contributions: [ObjectIdentifier: [AnySlot]] = [:]
    for (node, slot) in zip(graph.nodes, slots) {
      switch node.component.role {
      case .provider: providers[node.component.key] = slot
      case .contribution: contributions[node.component.key, default: []].append(slot)
      }
    }
    self.providers = SlotTable(providers)
    self.contributions = contributions
  }

  deinit { providers.deallocate() }

  // MARK: Looking up

  /// The instance of a protocol, created if need be.
  ///
  /// - Parameter type: The protocol, as in `(any AuthInterop).self`.
  /// - Returns: The instance; `nil` when nothing provides the protocol, when its creation block returned `nil` or
  ///   failed (the log says why), and after the app has been deleted.
  @inlinable
  public func resolve<Interface: Sendable>(_ type: Interface.Type) -> Interface? {
    if let instance = cached(type) { return instance }
    return resolveSlowly(type)
  }

  /// The instance of a protocol, created if need be.
  ///
  /// - Parameters:
  ///   - type: The protocol, as in `(any StoreProvider).self`.
  ///   - library: The library that provides it, for the error message, such as "FirestoreLibrary of VestaFirestore
  ///     (Packages/Firestore)".
  /// - Returns: The instance.
  /// - Throws: `VestaError` with the code `.notProvided`, `.dependencyCycle`, `.creationFailed`, `.wrongInstanceType`
  ///   or `.appDeleted`. A failed creation is not remembered: the next request tries again.
  @inlinable
  public func require<Interface: Sendable>(
    _ type: Interface.Type, providedBy library: StaticString? = nil
  ) throws(VestaError) -> Interface {
    if let instance = cached(type) { return instance }
    return try requireSlowly(type, library)
  }

  /// The instances that libraries contribute to one protocol.
  ///
  /// - Parameter type: The protocol, as in `(any EndpointProvider).self`.
  /// - Returns: One for each contribution, in the order of the libraries; contributions that returned `nil` or failed
  ///   are left out (the log says why).
  public func resolveAll<Interface: Sendable>(_ type: Interface.Type) -> [Interface] {
    let key = ObjectIdentifier(type)
    let (override, isEmptied) = state.withLock { ($0.overrides[key], $0.isEmptied) }
    if isEmptied { return [] }
    if let override = override as? Interface { return [override] }
    let slots = contributions[key] ?? []
    return slots.compactMap { slot in
      do {
        return try instance(of: slot, as: type)
      } catch {
        log.error("I-COR000002", "A contribution to \(name(of: type)) is left out. \(error)")
        return nil
      }
    }
  }

  @inlinable
  func cached<Interface: Sendable>(_ type: Interface.Type) -> Interface? {
    guard !hasDetour.load(ordering: .acquiring), let slot = providers.slot(for: ObjectIdentifier(type)) else {
      return nil
    }
    // Sound: the slot under the identifier of `Interface` was made by `Component.init` for that same `Interface`.
    return slot._withUnsafeGuaranteedRef { unsafeDowncast($0, to: ComponentSlot<Interface>.self).cached }
  }

  @usableFromInline
  func resolveSlowly<Interface: Sendable>(_ type: Interface.Type) -> Interface? {
    do {
      return try find(type)
    } catch VestaError.Code.appDeleted {
      return nil
    } catch {
      log.error("I-COR000001", "\(name(of: type)) could not be resolved. \(error)")
      return nil
    }
  }

  @usableFromInline
  func requireSlowly<Interface: Sendable>(
    _ type: Interface.Type, _ library: StaticString?
  ) throws(VestaError) -> Interface {
    if let instance = try find(type) { return instance }
    let wanted = name(of: type)
    guard let slot = slot(for: type) else {
      let advice =
        library.map { "Name \($0) in the list of libraries that configures the app." }
        ?? "Add a package that does and name its library in the list."
      throw VestaError(.notProvided, "Nothing in the app \"\(appName)\" provides \(wanted). \(advice)")
    }
    throw VestaError(.notProvided, "The component for \(wanted) (library \(slot.info.library)) gave no instance.")
  }

  // MARK: Creating

  /// The instance of a protocol that a component can do without, created if need be.
  ///
  /// Absent and failed are different: a credential store that cannot be created must not be replaced by another one.
  ///
  /// - Parameter type: The protocol, as in `(any CredentialStore).self`.
  /// - Returns: The instance; `nil` only when nothing provides the protocol or its creation block returned `nil`.
  /// - Throws: `VestaError` when the creation failed, or the app has been deleted.
  public func find<Interface: Sendable>(_ type: Interface.Type) throws(VestaError) -> Interface? {
    // Servers ask so for each call: a lock, and a cast to a protocol, would cost more than the rest of a small one.
    if let instance = cached(type) { return instance }
    let key = ObjectIdentifier(type)
    let (override, isEmptied) = state.withLock { ($0.overrides[key], $0.isEmptied) }
    if isEmptied { throw deleted }
    if let override, let override = override as? Interface { return override }
    guard let slot = slot(for: type) else { return nil }
    return try instance(of: slot, as: type)
  }

  private func slot<Interface>(for type: Interface.Type) -> AnySlot? {
    providers.slot(for: ObjectIdentifier(type))?.takeUnretainedValue()
  }

  private func instance<Interface: Sendable>(
    of slot: AnySlot, as type: Interface.Type
  ) throws(VestaError) -> Interface? {
    // Sound: see `cached`.
    let slot = unsafeDowncast(slot, to: ComponentSlot<Interface>.self)
    while true {
      if let cached = slot.cached { return cached }
      switch gate.enter(slot.info.index) {
      case .lookAgain: continue
      case .closed: throw deleted
      case .cycle(let path): throw cycle(path)
      case .create:
        defer { gate.leave(slot.info.index) }
        // Another thread may have finished between the look and the entry.
        if let cached = slot.cached { return cached }
        let made = try slot.makeInstance(in: self)
        if made.isCached { state.withLock { $0.created.append(slot) } }
        return made.instance
      }
    }
  }

  /// Creates what wants to be created while the app is being configured.
  func createEager(isDefaultApp: Bool) throws(VestaError) {
    for slot in slots where slot.info.timing.isEager(isDefaultApp: isDefaultApp) {
      try slot.touch(in: self)
    }
  }

  /// Creates the instance of a slot; this generic method opens the protocol that an `AnySlot` does not know.
  func touch<Interface: Sendable>(_ slot: ComponentSlot<Interface>) throws(VestaError) {
    _ = try instance(of: slot, as: Interface.self)
  }

  // MARK: The beginning and the end

  /// The container of a deleted app, which provides nothing.
  static func empty(appName: String, options: VestaOptions) -> ComponentContainer {
    let container = ComponentContainer(graph: .empty, appName: appName, options: options)
    container.state.withLock { $0.isEmptied = true }
    return container
  }

  /// Forgets all instances and overrides: from here on the container provides nothing.
  func forgetAll() {
    hasDetour.store(true, ordering: .releasing)
    // The overrides are dropped with the lock open: captured objects may call anything when they are released.
    _ = state.withLock { state in
      state.isEmptied = true
      defer { (state.created, state.overrides) = ([], [:]) }
      return state.overrides
    }
  }

  /// Replaces the provider of a protocol by an instance, in this app only.
  ///
  /// For tests. Instances that have been created before keep what they were given.
  ///
  /// - Parameters:
  ///   - type: The protocol.
  ///   - instance: What `resolve`, `find` and `require` return from here on, and the only element that `resolveAll`
  ///     returns; `nil` removes the override.
  @_spi(VestaTesting)
  public func override<Interface: Sendable>(_ type: Interface.Type, with instance: Interface?) {
    hasDetour.store(true, ordering: .releasing)
    let previous = state.withLock { state in
      guard !state.isEmptied else { return nil as (any Sendable)? }
      let previous = state.overrides[ObjectIdentifier(type)]
      state.overrides[ObjectIdentifier(type)] = instance
      return previous
    }
    withExtendedLifetime(previous) {}
  }

  private var deleted: VestaError {
    VestaError(
      .appDeleted, "The app \"\(appName)\" has been deleted. Configure it again, and let go of what belonged to it.")
  }

  private func cycle(_ path: [String]) -> VestaError {
    VestaError(
      .dependencyCycle,
      """
      These components need one another in a cycle: \(path.joined(separator: " -> ")). \
      Let one of them resolve the other when it is used.
      """)
  }
}

extension InstantiationTiming {
  func isEager(isDefaultApp: Bool) -> Bool {
    switch self {
    case .lazy: false
    case .alwaysEager: true
    case .eagerInDefaultApp: isDefaultApp
    }
  }
}

private let log = Logger(service: "VestaCore")
